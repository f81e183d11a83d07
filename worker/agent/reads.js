"use strict";
// reads.js - as reads.py, for node: NODE_OPTIONS makes each require it first.
const fs = require("fs");
const path = require("path");
const { fileURLToPath } = require("url");

const what = JSON.parse(fs.readFileSync(path.join(__dirname, "reads.json")));
const root = fs.realpathSync(what.root) + "/";
const fixed = new Set(what.protected.map((p) => root + p));
const { statSync, realpathSync, openSync, writeSync, closeSync } = fs;
const tests = new Map();
for (const p of what.tests) {
  const s = statSync(root + p, { throwIfNoEntry: false });
  if (s !== undefined) tests.set(`${s.dev} ${s.ino}`, p);
}

function put(where, line) {
  const fd = openSync(root + what[where], "a");
  writeSync(fd, line + "\n");
  closeSync(fd);
}

function isProgram(file) {
  if (!file || file.startsWith("node:")) return false;
  if (/^\[eval\d*\]/.test(file)) return true;
  try {
    if (file.startsWith("file:")) file = fileURLToPath(file);
    file = realpathSync(file);
  } catch {
    return false;
  }
  return file.startsWith(root) && !fixed.has(file) &&
    !file.includes("/node_modules/");
}

let looking = false;

function look(found) {
  if (found === undefined || looking) return;
  looking = true;
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = (_, frames) => frames;
  Error.stackTraceLimit = 200;
  const frames = new Error().stack;
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  if (Array.isArray(frames) && frames.some((f) => isProgram(f.getFileName()))) {
    put("mark", found);
  }
  looking = false;
}

function opened(file) {
  if (looking || typeof file === "number") return undefined;
  try {
    const s = statSync(file);
    const found = tests.get(`${s.dev} ${s.ino}`);
    if (found !== undefined) put("count", what.tests.indexOf(found));
    return found;
  } catch {
    return undefined;
  }
}

function spoken(...args) {
  const text = args.filter((a) => typeof a === "string" || Array.isArray(a))
    .join(" ");
  for (const p of tests.values()) if (text.includes(path.basename(p))) return p;
  return undefined;
}

function wrap(of, names, find) {
  for (const name of names) {
    if (typeof of[name] !== "function") continue;
    of[name] = new Proxy(of[name], {
      apply(f, self, args) {
        look(find(...args));
        return Reflect.apply(f, self, args);
      },
      construct(f, args, as) {
        look(find(...args));
        return Reflect.construct(f, args, as);
      },
    });
  }
}

wrap(fs, ["readFileSync", "readFile", "openSync", "open", "createReadStream",
  "ReadStream", "copyFileSync", "copyFile"], opened);
wrap(fs.promises, ["readFile", "open", "copyFile"], opened);
wrap(require("child_process"), ["spawn", "spawnSync", "exec", "execSync",
  "execFile", "execFileSync"], spoken);
require("module").syncBuiltinESMExports();
put("count", "p");
