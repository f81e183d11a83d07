const assert = require("assert");
const {
  add,
} = require("../calc");
import x from "y";
assert.strictEqual(add(1, 2), 3);
assert(add);
console.log("ok");
