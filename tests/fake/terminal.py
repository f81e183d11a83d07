"""A terminal of its own for foray, and a person who answers what it asks.

    t = Terminal(["y\\n", "n\\n"])     "": no answer to that question
    box.run(..., preexec_fn=t.own)
    t.close()                         t.shown: all that was on it
"""
import fcntl
import os
import pty
import select
import termios
import threading
import time


class Terminal:
    """foray with a terminal of its own, and what is typed to each question."""

    def __init__(self, answers):
        self.ours, self.theirs = pty.openpty()
        self.shown, self.answers, self.stop = "", answers, False
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def own(self):
        os.setsid()
        fcntl.ioctl(self.theirs, termios.TIOCSCTTY, 0)

    def serve(self):
        asked = 0
        while not self.stop:
            if not select.select([self.ours], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self.ours, 65536)
            except OSError:
                return
            self.shown += data.decode("utf-8", "replace")
            while self.shown.count("it is denied)") > asked:
                if asked < len(self.answers) and self.answers[asked]:
                    time.sleep(0.2)
                    os.write(self.ours, self.answers[asked].encode())
                asked += 1

    def close(self):
        self.stop = True
        self.thread.join()
        os.close(self.ours)
        os.close(self.theirs)
