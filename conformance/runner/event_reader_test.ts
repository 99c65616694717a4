import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EventReader } from "./event_reader.ts";

const test = suite("event_reader");
const bytes = (text: string) => new TextEncoder().encode(text);
const STREAM =
  'id: 1\r\ndata: {"a":"é"}\r\n\r\n: comment\n\nevent: end\rdata: x\rdata: y\r\rdata: never ended';
const EVENTS = [{ id: "1", data: '{"a":"é"}', json: { a: "é" } }, { event: "end", data: "x\ny" }];

test("events come out whole wherever chunks are cut", () => {
  const all = bytes(STREAM);
  for (let at = 0; at <= all.length; at++) {
    const reader = new EventReader();
    assert.equal([...reader.push(all.slice(0, at)), ...reader.push(all.slice(at))], EVENTS, `cut at ${at}`);
  }
});

test("events come out whole byte by byte", () => {
  const reader = new EventReader();
  assert.equal([...bytes(STREAM)].flatMap((byte) => reader.push(Uint8Array.of(byte))), EVENTS);
});

test("an event that ends in CR is there at once, and the LF after it is no line", () => {
  const reader = new EventReader();
  assert.equal(reader.push(bytes("data: x\r\r")), [{ data: "x" }]);
  assert.equal(reader.push(bytes("\ndata: y\r")), []);
  assert.equal(reader.push(bytes("\n\r")), [{ data: "y" }]);
  assert.equal(reader.push(bytes("\n")), []);
});

// Looked through from its beginning with each chunk, it would take minutes.
test("a line of 32 MiB that comes in 65,536 chunks is one line", () => {
  const reader = new EventReader();
  const chunk = bytes("x".repeat(512));
  reader.push(bytes("data: "));
  for (let count = 0; count < 65_536; count++) reader.push(chunk);
  const [event] = reader.push(bytes("\n\n"));
  assert.is((event!["data"] as string).length, 65_536 * 512);
});

test.run();
