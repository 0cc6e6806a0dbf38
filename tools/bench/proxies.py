"""`tarn proxy` and nginx's `proxy_cache` in front of the same server, under wrk requests for cached responses."""
import os
import re
import subprocess
import tempfile
import urllib.request

import server

CONNECTIONS, SECONDS = 32, 5


def tarn(executable, base, store):
    """Fresh hits through `tarn proxy`."""
    command = [executable, "proxy", "--upstream", base, "--listen", "127.0.0.1:0", "--store", store]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        return measured(line.removeprefix("listening on ").strip(), "Cache-Status", "tarn; hit")
    finally:
        process.terminate()
        process.wait()


def nginx(base):
    """Fresh hits through nginx, with its cache in memory as far as nginx keeps it there."""
    with tempfile.TemporaryDirectory() as folder:
        port = server.free_port()
        process = server.start_nginx(folder, f"""
            {"user root;" if os.geteuid() == 0 else ""} daemon off; worker_processes auto; pid {folder}/pid; error_log stderr warn;
            events {{ worker_connections 1024; }}
            http {{
                access_log off; sendfile on; tcp_nodelay on; keepalive_requests 100000000; open_file_cache max=2000;
                client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
                uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                proxy_cache_path {folder}/cache keys_zone=all:10m max_size=1g inactive=1h use_temp_path=off;
                server {{
                    listen 127.0.0.1:{port};
                    location / {{
                        proxy_pass {base}; proxy_http_version 1.1; proxy_cache all; add_header X-Cache $upstream_cache_status;
                    }}
                }}
            }}""")
        try:
            server.wait_for(process, f"http://127.0.0.1:{port}/ten/0", server.TEN)
            return measured(f"http://127.0.0.1:{port}", "X-Cache", "HIT")
        finally:
            process.terminate()
            process.wait()


def measured(base, field, hit):
    """The counts of wrk, after a warm-up second; every response is complete, and the sampled ones are hits."""
    url = base + "/ten/0"
    for number in range(2):
        with urllib.request.urlopen(url) as answer:
            if answer.read() != server.TEN or number > 0 and not answer.headers[field].startswith(hit):
                raise RuntimeError(f"{url} is not answered from the cache: {answer.headers[field]}")
    wrk(url, 1)
    text = wrk(url, SECONDS)
    with urllib.request.urlopen(url) as answer:
        if not answer.headers[field].startswith(hit):
            raise RuntimeError(f"{url} is not answered from the cache any more")
    requests, seconds = re.search(r"(\d+) requests in ([\d.]+)s", text).groups()
    if "Socket errors" in text or "Non-2xx" in text:
        raise RuntimeError(text)
    return {"seconds": float(seconds), "requests": int(requests), "latency": re.search(r"99%\s+(\S+)", text).group(1),
            "durability": "none", "compression": "none"}


def wrk(url, seconds):
    command = ["wrk", "-t2", f"-c{CONNECTIONS}", f"-d{seconds}s", "--latency", url]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
