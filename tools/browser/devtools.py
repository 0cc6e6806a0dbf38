"""Headless Chromium over the DevTools protocol, and the page of `tarn inspect web`; for the scripts in tools/."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

CHROMIUM = "/usr/bin/chromium"
# Everything that the browser would send of its own accord is off.
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-default-apps",
    "--disable-extensions", "--disable-domain-reliability", "--font-render-hinting=none", "--remote-debugging-pipe",
]


class Browser:
    """A browser with one page, which is driven through two pipes: no port is open."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="tarn-browser.")
        commands, self.commands = os.pipe()
        self.events, events = os.pipe()
        # The protocol is spoken on the descriptors 3 and 4.
        shell = f'exec "$0" "$@" 3<&{commands} 4>&{events}'
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", shell, CHROMIUM, *ARGUMENTS, f"--user-data-dir={self.folder}", "about:blank"],
            pass_fds=(commands, events), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(events)
        self.buffer, self.last, self.session, self.requests = b"", 0, None, []
        target = next(one for one in self.call("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")

    def call(self, method, **parameters):
        """Sends a command and returns its result."""
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            found = self.message(60)
            if found.get("id") == self.last:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                return found["result"]

    def message(self, seconds):
        """The next message; those that report requests are kept."""
        while b"\0" not in self.buffer:
            if not select.select([self.events], [], [], seconds)[0]:
                raise RuntimeError("the browser does not answer")
            part = os.read(self.events, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        found = json.loads(line)
        if found.get("method") == "Network.requestWillBeSent":
            self.requests.append(found["params"]["request"]["url"])
        return found

    def run(self, script):
        """Evaluates a script, awaits its promise, and returns its value."""
        result = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def until(self, script, seconds=30):
        """Evaluates a script until its value is true."""
        end = time.monotonic() + seconds
        while not self.run(script):
            if time.monotonic() > end:
                raise RuntimeError(f"not true in {seconds} s: {script}: " + self.run("document.body.innerText.slice(0, 2000)"))
            time.sleep(0.05)

    def show(self, width, height, dark=False, scale=1, mobile=False):
        """Sets the size of the window and the color scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url):
        """Opens an address and waits for the page."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && Boolean(document.getElementById('view')?.dataset.run)")

    def screenshot(self, whole=False):
        """A picture of the window, or of the whole page, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
        except (RuntimeError, OSError):
            self.process.kill()
        self.process.wait()
        os.close(self.commands)
        os.close(self.events)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Page:
    """`tarn inspect web` of a store."""

    def __init__(self, tarn, store):
        # The page shows the path as it was given: in its folder, a store has a short one.
        folder, name = os.path.split(os.path.abspath(store))
        self.process = subprocess.Popen([os.path.abspath(tarn), "inspect", "web", name], cwd=folder, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError("tarn inspect web printed no URL")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
