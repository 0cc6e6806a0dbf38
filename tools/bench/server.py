"""nginx on loopback, with the workload's pages as an API lists them: `/issues?page=N` with a `Link` to the next, and `/small/N`."""
import os
import shutil
import socket
import subprocess
import time
import urllib.request

SMALL = b'{"id":1,"name":"a small answer","created_at":"2026-01-01T00:00:00Z","tags":["one","two"],"count":17,"active":true}'


class Server:
    def __init__(self, pages, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        # nginx cannot choose a port itself.
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}"
        files = sorted(os.listdir(pages)) if pages else []
        with open(os.path.join(folder, "small.json"), "wb") as f:
            f.write(SMALL)
        file_of = "".join(f'{number} "{name}";' for number, name in enumerate(files, 1))
        link_of = "".join(f'{number} "<{self.base}/issues?page={number + 1}>; rel=\\"next\\"";' for number in range(1, len(files)))
        configuration = os.path.join(folder, "nginx.conf")
        with open(configuration, "w", encoding="utf-8") as f:
            f.write(f"""
                {"user root;" if os.geteuid() == 0 else ""} daemon off; worker_processes 1; pid {folder}/pid; error_log stderr warn;
                events {{ worker_connections 256; }}
                http {{
                    types {{ application/json json; }} access_log off; sendfile on; tcp_nodelay on; open_file_cache max=2000;
                    keepalive_requests 1000000; map_hash_bucket_size 128; map_hash_max_size 65536;
                    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
                    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                    map $arg_page $page_file {{ default ""; {file_of} }}
                    map $arg_page $page_link {{ default ""; {link_of} }}
                    server {{
                        listen 127.0.0.1:{port};
                        location = /issues {{ root {pages or folder}; add_header Link $page_link; try_files /$page_file =404; }}
                        location /small/ {{ root {folder}; try_files /small.json =404; }}
                    }}
                }}""")
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        self.process = subprocess.Popen([nginx, "-p", folder, "-c", configuration, "-e", "stderr"])
        for _ in range(500):
            try:
                with urllib.request.urlopen(self.base + "/small/0") as answer:
                    if answer.read() == SMALL:
                        return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.01)
        self.stop()
        raise RuntimeError("nginx does not answer")

    def stop(self):
        self.process.terminate()
        self.process.wait()
