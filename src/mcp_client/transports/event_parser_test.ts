import { suite } from "uvu";
import * as assert from "uvu/assert";
import { EventParser, EventTooLarge, type ServerEvent } from "./event_parser.ts";

const test = suite("mcp client/event parser");
const encoder = new TextEncoder();

/** The events of a text in chunks of so many bytes. */
function parse(text: string, size = 1000) {
  const events: ServerEvent[] = [];
  const parser = new EventParser(100, (event) => events.push(event));
  const bytes = encoder.encode(text);
  for (let at = 0; at < bytes.length; at += size) parser.push(bytes.subarray(at, at + size));
  return { events, parser };
}

const STREAM = ": comment\r\n\r\nid: 7\r\nevent: endpoint\r\ndata: é\r\ndata:  2\r\n\r\n" +
  "retry: 50\ndata\n\nretry: x\rdata:last\r\r: \n\nid:\ndata: after\n\ndata: unfinished\n";

test("events are the same in chunks of any size", () => {
  const expected = [
    { type: "endpoint", data: "é\n 2" },
    { type: "message", data: "last" },
    { type: "message", data: "after" },
  ];
  for (const size of [1, 2, 3, 7, 1000]) {
    const { events, parser } = parse(STREAM, size);
    assert.equal(events, expected, `chunks of ${size}`);
    assert.is(parser.retry, 50);
    assert.is(parser.lastId, undefined);
  }
});

test("the id of an event counts when the event ends, so that one that was cut off is asked for again", () => {
  const { parser, events } = parse("id: a\ndata: 1\n\nid: b\ndata: 2");
  assert.is(parser.lastId, "a");
  parser.restart();
  parser.push(new TextEncoder().encode("data: again\n\n"));
  assert.is(parser.lastId, "a");
  parser.push(new TextEncoder().encode("id: b\ndata: 2\n\n"));
  assert.is(parser.lastId, "b");
  assert.equal(events.map(({ data }) => data), ["1", "again", "2"]);
});

test("the id of the last event is kept, unless a header field cannot hold it", () => {
  assert.is(parse("id: a\ndata: 1\n\ndata: 2\n\n").parser.lastId, "a");
  assert.is(parse("id: a\ndata: 1\n\nid: ü\ndata: 2\n\n").parser.lastId, "a");
  assert.is(parse("id: a\n\n").parser.lastId, "a");
});

test("an event or line beyond the limit is refused, however it arrives", () => {
  const long = "x".repeat(101);
  for (const text of [`data: ${long}\n\n`, `: ${long}`, "data: 12345678\n".repeat(12), `${long}`]) {
    for (const size of [1, 1000]) {
      assert.throws(() => parse(text, size), (error: unknown) => error instanceof EventTooLarge);
    }
  }
  assert.is(parse(`data: ${"x".repeat(90)}\n\n`.repeat(5)).events.length, 5);
});

test("a continuation does not end an event of the stream before", () => {
  const { events, parser } = parse("data: half");
  parser.restart();
  parser.push(encoder.encode("\n\ndata: whole\n\n"));
  assert.equal(events.map(({ data }) => data), ["whole"]);
});

test.run();
