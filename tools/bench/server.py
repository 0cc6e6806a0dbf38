"""nginx on loopback, with the workload's pages as an API lists them: `/issues?page=N` with a `Link` to the next, `/small/N`, and `/ten/N`.
With the output of gen_details.py: `/things?page=N` and `/things/N/`.

usage: server.py PAGES FOLDER    serves until it is interrupted, and prints its address
"""
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import gen_details

SMALL = b'{"id":1,"name":"a small answer","created_at":"2026-01-01T00:00:00Z","tags":["one","two"],"count":17,"active":true}'


# 10 KB that may be kept for an hour.
TEN = b"[" + b",".join(b'{"id":%d,"name":"an answer of some size"}' % (10_000 + n) for n in range(212)) + b"]\n"
TEN += b" " * (10_240 - len(TEN))


def free_port():
    """nginx cannot choose a port itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start_nginx(folder, configuration):
    file = os.path.join(folder, "nginx.conf")
    with open(file, "w", encoding="utf-8") as f:
        f.write(configuration)
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    return subprocess.Popen([nginx, "-p", folder, "-c", file, "-e", "stderr"])


def wait_for(process, url, wanted):
    """Waits until the server responds as expected; raises if it ends first, or after five seconds."""
    for _ in range(500):
        try:
            with urllib.request.urlopen(url) as answer:
                if answer.read() == wanted:
                    return
        except OSError:
            if process.poll() is not None:
                break
            time.sleep(0.01)
    process.terminate()
    process.wait()
    raise RuntimeError(f"{url} is not answered")


def with_base(pages, folder, base):
    """Copies lists and details, with URLs that begin with the server's address."""
    for part in ("lists", "things"):
        os.makedirs(os.path.join(folder, part))
        for entry in os.scandir(os.path.join(pages, part)):
            with open(entry.path, encoding="utf-8") as f:
                text = f.read().replace(gen_details.BASE, base)
            with open(os.path.join(folder, part, entry.name), "w", encoding="utf-8") as f:
                f.write(text)


class Server:
    def __init__(self, pages, folder):
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        has_details = pages and os.path.isdir(os.path.join(pages, "things"))
        if has_details:
            with_base(pages, folder, self.base)
        files = sorted(os.listdir(pages)) if pages and not has_details else []
        for name, content in (("small.json", SMALL), ("ten.json", TEN)):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(content)
        file_of = "".join(f'{number} "{name}";' for number, name in enumerate(files, 1))
        link_of = "".join(f'{number} "<{self.base}/issues?page={number + 1}>; rel=\\"next\\"";' for number in range(1, len(files)))
        self.process = start_nginx(folder, f"""
                {"user root;" if os.geteuid() == 0 else ""} daemon off; worker_processes 1; pid {folder}/pid; error_log stderr warn;
                events {{ worker_connections 256; }}
                http {{
                    types {{ application/json json; }} access_log off; sendfile on; tcp_nodelay on; open_file_cache max=20000;
                    keepalive_requests 1000000; map_hash_bucket_size 128; map_hash_max_size 65536;
                    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
                    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
                    map $arg_page $page_file {{ default ""; {file_of} }}
                    map $arg_page $page_link {{ default ""; {link_of} }}
                    server {{
                        listen 127.0.0.1:{port};
                        location = /issues {{ root {pages or folder}; add_header Link $page_link; try_files /$page_file =404; }}
                        location /small/ {{ root {folder}; try_files /small.json =404; }}
                        location /notes/ {{ if ($request_method = PATCH) {{ return 204; }} return 405; }}
                        location = /things {{ root {folder}/lists; try_files /$arg_page.json =404; }}
                        location /things/ {{ root {folder}; rewrite ^/things/([0-9]+)/$ /things/$1.json break; }}
                        location /ten/ {{ root {folder}; add_header Cache-Control max-age=3600; try_files /ten.json =404; }}
                    }}
                }}""")
        wait_for(self.process, self.base + "/small/0", SMALL)

    def stop(self):
        self.process.terminate()
        self.process.wait()


if __name__ == "__main__":
    serving = Server(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]))
    print(serving.base, flush=True)
    try:
        serving.process.wait()
    except KeyboardInterrupt:
        serving.stop()
