import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EventReader } from "./event_reader.ts";

const test = suite("event_reader");
const bytes = (text: string) => new TextEncoder().encode(text);
const STREAM =
  'id: 1\r\ndata: {"a":"é"}\r\n\r\n: comment\n\nevent: end\rdata: x\rdata: y\r\rdata: never ended';
const EVENTS = [{ id: "1", data: '{"a":"é"}', json: { a: "é" } }, { event: "end", data: "x\ny" }];

test("events are complete wherever chunks are split", () => {
  const all = bytes(STREAM);
  for (let at = 0; at <= all.length; at++) {
    const reader = new EventReader();
    assert.equal([...reader.push(all.slice(0, at)), ...reader.push(all.slice(at))], EVENTS, `cut at ${at}`);
  }
});

test("events are complete when read byte by byte", () => {
  const reader = new EventReader();
  assert.equal([...bytes(STREAM)].flatMap((byte) => reader.push(Uint8Array.of(byte))), EVENTS);
});

test("an event that ends in CR is returned at once, and the LF after it is skipped", () => {
  const reader = new EventReader();
  assert.equal(reader.push(bytes("data: x\r\r")), [{ data: "x" }]);
  assert.equal(reader.push(bytes("\ndata: y\r")), []);
  assert.equal(reader.push(bytes("\n\r")), [{ data: "y" }]);
  assert.equal(reader.push(bytes("\n")), []);
});

// A search from the start of the line with each chunk would take minutes.
test("a line of 32 MiB in 65,536 chunks is one line", () => {
  const reader = new EventReader();
  const chunk = bytes("x".repeat(512));
  reader.push(bytes("data: "));
  for (let count = 0; count < 65_536; count++) reader.push(chunk);
  const [event] = reader.push(bytes("\n\n"));
  assert.is((event!["data"] as string).length, 65_536 * 512);
});

test("events above the limit of a call are returned by the next one, complete", () => {
  const reader = new EventReader();
  const first = reader.push(bytes("data: x\n\n".repeat(20_001) + "data: y\r\n\r"));
  assert.equal([first.length, first.at(-1)], [20_000, { data: "x" }]);
  assert.equal(reader.push(bytes("\ndata: z\n\n")), [{ data: "x" }, { data: "y" }, { data: "z" }]);
  assert.equal(reader.push(bytes("data: 1\n\ndata: 2\n\n"), 1), [{ data: "1", json: 1 }]);
  assert.equal(reader.push(bytes(""), 1), [{ data: "2", json: 2 }]);
  assert.equal(reader.push(bytes("")), []);
});

test("data that is not UTF-8 is not JSON, wherever it is split", () => {
  const cut = [...bytes('data: "'), 0xf0, 0x9f, 0x92, ...bytes('"\n\n')];
  const whole = [...bytes('data: "'), 0xf0, 0x9f, 0x92, 0x9c, ...bytes('"\n\n')];
  const all = Uint8Array.from([...cut, ...whole]);
  for (let at = 0; at <= all.length; at++) {
    const reader = new EventReader();
    const events = [...reader.push(all.slice(0, at)), ...reader.push(all.slice(at))];
    assert.equal(events, [{ data: '"\ufffd"' }, { data: '"💜"', json: "💜" }]);
  }
});

test("a byte order mark before the stream is ignored", () => {
  const reader = new EventReader();
  for (const byte of bytes("\ufeffdata: 1\n")) assert.equal(reader.push(Uint8Array.of(byte)), []);
  assert.equal(reader.push(bytes("\n\ufeffdata: 2\n\n")), [{ data: "1", json: 1 }]);
});

test.run();
