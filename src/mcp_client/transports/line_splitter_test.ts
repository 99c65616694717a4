import { suite } from "uvu";
import * as assert from "uvu/assert";
import { LineSplitter } from "./line_splitter.ts";

const test = suite("mcp client/line splitter");
const bytes = new TextEncoder().encode('{"a":"é"}\r\n\n  \n{"b":2}\nrest');

test("lines are the same in chunks of any size, without blank ones", () => {
  for (const size of [1, 2, 5, 100]) {
    const lines: string[] = [];
    const splitter = new LineSplitter(50, (line) => lines.push(line.trim()));
    for (let at = 0; at < bytes.length; at += size) splitter.push(bytes.subarray(at, at + size));
    splitter.end();
    assert.equal(lines, ['{"a":"é"}', '{"b":2}', "rest"], `chunks of ${size}`);
  }
});

test("a line beyond the limit is refused, also before it ends", () => {
  for (const text of ["x".repeat(11), `${"x".repeat(11)}\n`, `short\n${"x".repeat(11)}`]) {
    assert.is(new LineSplitter(10, () => {}).push(new TextEncoder().encode(text)), false, text);
  }
  const splitter = new LineSplitter(10, () => {});
  const results = Array.from({ length: 11 }, () => splitter.push(Uint8Array.of(120)));
  assert.equal(results.filter((fits) => fits).length, 10);
});

test.run();
