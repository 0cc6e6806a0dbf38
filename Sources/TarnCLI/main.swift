print("tarn")
