// trace.js - which lines each test of a JavaScript program executes.
//
// NODE_OPTIONS makes every node below one command require it. V8 counts what
// is executed; the counts are taken, and set to 0, where a test of node:test
// begins and ends. What was executed is written into a file "out.*" beside this
// one when the process ends, for report.js; report.py describes it. "tree"
// there names the directories whose files are the program.
'use strict';
const fs = require('fs');
const path = require('path');
const TEXT_MAX = 256 * 1024;
const WORK_MAX = 200 * 1024 * 1024; // characters looked at
const SKIPPED = /(^|\/)(node_modules|dist|coverage)\//;
const TEST = new RegExp('(^|/)(tests?|spec|testing|__tests__)/|' +
    '\\.(test|spec)\\.[^/]*$|(^|/)(test[-_][^/]*|[^/]*[-_.]tests?|tests?)\\.[^/.]+$');

let session;
let work = WORK_MAX;
const files = new Map(); // URL: { rel, text, starts, all } or null
const hits = new Map();  // test: Map of file: Set of lines
const failed = new Map();
const open = [];         // tests that run
let count = 0;

function trees() {
    return fs.readFileSync(path.join(__dirname, 'tree'), 'utf8').split('\n')
        .filter(Boolean).map((t) => fs.realpathSync(t) + '/');
}
const roots = trees();

function placeOf(url) {
    let name = url;
    if (url.startsWith('file://'))
        name = require('url').fileURLToPath(url);
    if (!path.isAbsolute(name))
        return null;
    name = fs.realpathSync(name);
    const root = roots.find((r) => name.startsWith(r));
    const rel = root && name.slice(root.length);
    if (!rel || SKIPPED.test(rel) || TEST.test(rel) || /\n/.test(rel))
        return null;
    const text = fs.readFileSync(name, 'utf8');
    if (text.length > TEXT_MAX)
        return null;
    const lines = text.split('\n');
    const all = [];
    lines.forEach((line, i) => line.trim() !== '' && all.push(i + 1));
    return { rel, text, lines, all, points: lines.map(pointsOf) };
}

// Where another block may begin within a line: `if (x) y`, `x ? y : z`, `x || y`.
function pointsOf(line) {
    const found = [];
    if (line.length < 400) {
        for (const m of line.matchAll(/(?:[)?:{;]|&&|\|\||=>) *(?=[^\s)};,])/g))
            found.push(m.index + m[0].length);
    }
    return found.slice(0, 9);
}

function fileOf(url) {
    if (!files.has(url)) {
        let f = null;
        try {
            f = placeOf(url);
        } catch (e) { /* not there any more */ }
        files.set(url, f);
    }
    return files.get(url);
}

// The lines of which a part was executed, and "LINE.POINT" for the parts of one
// that were. Ranges are of functions, outer ones first, and of the blocks in
// them.
function executed(f, functions) {
    const paint = new Uint8Array(f.text.length);
    work -= f.text.length;
    for (const fn of functions) {
        for (const r of fn.ranges)
            paint.fill(r.count > 0 ? 1 : 0, r.startOffset, r.endOffset);
    }
    const found = [];
    let at = 0;
    f.lines.forEach((line, i) => {
        for (let k = 0; k < line.length; k++) {
            if (paint[at + k] && line.charCodeAt(k) > 32) {
                found.push(i + 1);
                f.points[i].forEach((p, n) => paint[at + p] &&
                    found.push(`${i + 1}.${n}`));
                break;
            }
        }
        at += line.length + 1;
    });
    return found;
}

function take() {
    const test = open.length > 0 ? open[open.length - 1] : '';
    let result = [];
    session.post('Profiler.takePreciseCoverage', (e, r) => {
        result = e ? [] : r.result;
    });
    if (!hits.has(test))
        hits.set(test, new Map());
    for (const script of result) {
        const f = work > 0 && fileOf(script.url);
        // Compiled from this very text?
        const fns = script.functions;
        if (!f || fns.some((fn) => fn.ranges[0].endOffset > f.text.length))
            continue;
        const own = hits.get(test);
        if (!own.has(f))
            own.set(f, new Set());
        for (const n of executed(f, fns))
            own.get(f).add(n);
    }
}

function begin(name) {
    const test = JSON.stringify([process.pid, ++count, String(name)]);
    take();
    open.push(test);
    return test;
}

function end(test, bad) {
    if (!open.includes(test))
        return;
    take();
    open.splice(open.indexOf(test), 1);
    failed.set(test, bad);
}

// A test of node:test is an AsyncResource that runs its function with this.
function hook() {
    const proto = require('async_hooks').AsyncResource.prototype;
    const run = proto.runInAsyncScope;
    proto.runInAsyncScope = function runInAsyncScope(fn, self, ...args) {
        if (this.constructor.name !== 'Test' || fn !== this.fn ||
            typeof fn !== 'function' || !this.parent)
            return run.call(this, fn, self, ...args);
        const test = begin(this.name);
        const last = args[args.length - 1];
        if (typeof last === 'function') {
            args[args.length - 1] = function done(e) {
                end(test, Boolean(e));
                return last.apply(this, arguments);
            };
        }
        let ret;
        try {
            ret = run.call(this, fn, self, ...args);
        } catch (e) {
            end(test, true);
            throw e;
        }
        if (ret && typeof ret.then === 'function')
            ret.then(() => end(test, false), () => end(test, true));
        else if (typeof last !== 'function')
            end(test, false);
        return ret;
    };
}

function write() {
    take();
    const out = [], seen = new Set();
    for (const [test, own] of hits) {
        out.push(`T ${failed.get(test) ? 1 : 0} ${test}`);
        for (const [f, lines] of own) {
            seen.add(f);
            out.push('F ' + f.rel, 'L ' + [...lines].join(' '));
        }
    }
    for (const f of seen)
        out.push('F ' + f.rel, 'E ' + f.all.join(' '));
    const name = process.pid + '.' + Math.random().toString(16).slice(2);
    fs.writeFileSync(path.join(__dirname, name), out.join('\n'));
    fs.renameSync(path.join(__dirname, name),
        path.join(__dirname, 'out.' + name));
}

function start() {
    const { Session } = require('inspector');
    session = new Session();
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage',
        { callCount: true, detailed: true });
    hook();
    process.on('exit', () => {
        try {
            write();
        } catch (e) { /* then there is no report */ }
    });
}

if (require('worker_threads').isMainThread) {
    try {
        start();
    } catch (e) { /* the same */ }
}
