"""A headless Chrome or Chromium, driven over its debugging pipe: nothing to install but the browser."""

from __future__ import annotations

import base64
import fcntl
import io
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np

BROWSER = next(filter(None, map(shutil.which, ("google-chrome", "chromium", "chromium-browser"))), None)
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--window-size=600,600",
]
# The browser reads commands from file 3 and answers on file 4.
_LAUNCH = (
    "import os, sys; os.dup2(int(sys.argv[1]), 3); os.dup2(int(sys.argv[2]), 4); os.execv(sys.argv[3], sys.argv[3:])"
)


class Page:
    """One page in a browser of its own; `requests` are the addresses it asked for, `errors` what it threw."""

    def __init__(self, address: str, profile: Path, *, seconds: float = 30.0) -> None:
        self.deadline, self.count, self.session, self.buffer = time.monotonic() + seconds, 0, "", b""
        self.requests: list[str] = []
        self.errors: list[str] = []
        read, self.commands = os.pipe()
        self.answers, write = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (read, write)]  # out of the way of 3 and 4
        options = [*OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", _LAUNCH, *map(str, ends), str(BROWSER), *options],
            pass_fds=ends,
            stderr=subprocess.DEVNULL,
        )
        for end in (read, write, *ends):
            os.close(end)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.send(f"{domain}.enable")
        self.send("Page.navigate", url=address)
        self.wait_for("document.readyState === 'complete'")

    def send(self, method: str, **params: Any) -> Any:
        self.count += 1
        message: dict[str, Any] = {"id": self.count, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while (answer := self._next()).get("id") != self.count:
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            elif answer.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(answer["params"]["exceptionDetails"]))
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0.0, self.deadline - time.monotonic()))
            piece = os.read(self.answers, 1 << 20) if ready else b""
            assert piece, "the browser stopped" if ready else "the browser took too long"
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def evaluate(self, expression: str) -> Any:
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait_for(self, expression: str) -> None:
        while not self.evaluate(expression):
            assert time.monotonic() < self.deadline, f"never true: {expression}"
            time.sleep(0.05)

    def next_frame(self) -> None:
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def picture(self) -> np.ndarray:
        data = self.send("Page.captureScreenshot", format="png")["data"]
        return matplotlib.image.imread(io.BytesIO(base64.b64decode(data)))[..., :3]

    def mouse(self, kind: str, x: float, y: float, **params: Any) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **params)

    def __enter__(self) -> Page:
        return self

    def __exit__(self, *error: object) -> None:
        for end in (self.commands, self.answers):
            os.close(end)
        self.process.kill()
        self.process.wait()
