// report.js NONCE - what report.py does, where there is no Python.
'use strict';
const fs = require('fs');
const path = require('path');
const LIMIT = 14000;

const failed = new Map(); // test: did it fail
const files = new Map();  // file: Map of line or "line.part": Set of tests

function read(name) {
    let test = '', lines = null;
    for (const row of fs.readFileSync(name, 'utf8').split('\n')) {
        const rest = row.slice(2);
        if (row[0] === 'T') {
            test = rest.slice(2);
            if (test !== '')
                failed.set(test, rest[0] === '1');
        } else if (row[0] === 'F') {
            if (!files.has(rest))
                files.set(rest, new Map());
            lines = files.get(rest);
        } else if (row[0] === 'L' || row[0] === 'E') {
            for (const n of rest.split(' ').filter(Boolean)) {
                if (!lines.has(n))
                    lines.set(n, new Set());
                if (row[0] === 'L')
                    lines.get(n).add(test);
            }
        }
    }
}

// By the tests of each line, or of its part that failing ones execute and
// passing ones do not: what stands behind an `if` is no better known when
// it stands on the line of it.
function byLine(lines) {
    const found = new Map();
    const worth = (tests) => {
        const own = [...tests].filter((t) => t !== '');
        return own.filter((t) => failed.get(t)).length ** 2 / own.length || 0;
    };
    for (const [part, tests] of lines) {
        const n = parseInt(part, 10);
        if (!found.has(n) || worth(tests) > worth(found.get(n)))
            found.set(n, tests);
    }
    return found;
}

function kindOf(tests) {
    const own = [...tests].filter((t) => t !== '');
    if (tests.size === 0)
        return '-';
    if (own.length === 0)
        return 'x';
    const bad = own.filter((t) => failed.get(t)).length;
    return bad + '/' + (own.length - bad);
}

// Rows "KIND FIRST-LAST,..."; equal neighbours are one range.
function rows(name, lines) {
    const ranges = new Map();
    let last = null;
    for (const n of [...lines.keys()].sort((a, b) => a - b)) {
        const kind = kindOf(lines.get(n));
        if (!ranges.has(kind))
            ranges.set(kind, []);
        const list = ranges.get(kind);
        if (kind === last)
            list[list.length - 1][1] = n;
        else
            list.push([n, n]);
        last = kind;
    }
    let out = `= ${name}\n`;
    for (const [kind, list] of ranges) {
        for (let i = 0; i < list.length; i += 100)
            out += kind + ' ' + list.slice(i, i + 100).map(([a, b]) =>
                (a < b ? a + '-' + b : String(a))).join(',') + '\n';
    }
    return out;
}

function weight(lines) {
    let n = 0;
    for (const tests of lines.values())
        n += [...tests].some((t) => failed.get(t));
    return n;
}

function main(nonce) {
    for (const name of fs.readdirSync(__dirname).sort()) {
        if (name.startsWith('out.'))
            read(path.join(__dirname, name));
    }
    const order = [...files].sort((a, b) => weight(b[1]) - weight(a[1]));
    const bad = [...failed.values()].filter(Boolean).length;
    let body = '';
    for (const [name, lines] of order.map(([n, l]) => [n, byLine(l)])) {
        const part = rows(name, lines);
        if (body.length + part.length <= LIMIT)
            body += part;
    }
    if (files.size > 0)
        console.log(`foray-spectrum ${nonce} ${bad} ${failed.size - bad}\n` +
            `${body}end ${nonce}`);
}

main(process.argv[2]);
