/**
 * Changes MCP messages from the server, sent as JSON or as events of a stream.
 *
 * @module
 */
import { pathOf, withBody } from "../http_faults.ts";
import type { Wrap } from "../mutant.ts";
import { isJson, isObject, type Members, readJson } from "./message_faults.ts";

/** The lines of a server-sent event without the final empty one; `json` is its parsed data. */
export interface Event {
  readonly lines: readonly string[];
  readonly json: Members | undefined;
}

const isStream = (answer: Response): boolean =>
  /^text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "");

/** Returns the text of each event that replaces one. */
type Change = (event: Event, request: Request) => readonly string[] | string;

/** Changes the events of streams. */
export function changeEvents(paths: readonly string[], change: Change): Wrap {
  return (next) => async (request) => {
    const answer = await next(request);
    if (!paths.includes(pathOf(request)) || !isStream(answer) || !answer.body) return answer;
    const body = answer.body.pipeThrough(toEventTransform((event) => change(event, request)));
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

function toEventTransform(
  change: (event: Event) => readonly string[] | string,
): TransformStream<Uint8Array, Uint8Array> {
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  let rest = "";
  return new TransformStream({
    transform(chunk, controller) {
      const blocks = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
      rest = blocks.pop()!;
      for (const block of blocks) {
        const lines = block.split("\n");
        const data = lines.find((line) => line.startsWith("data:"))?.slice(5);
        const json = readJson(data ?? "");
        for (const text of [change({ lines, json: isObject(json) ? json : undefined })].flat()) {
          controller.enqueue(encoder.encode(`${text}\n\n`));
        }
      }
    },
  });
}

export const toEventText = ({ lines }: Event): string => lines.join("\n");

/** Replaces the data of an event. */
export const withEventData = ({ lines }: Event, json: unknown): string =>
  lines.map((line) => line.startsWith("data:") ? `data: ${JSON.stringify(json)}` : line).join("\n");

/** Changes, in place, each message that the server sends as JSON or in a stream. */
export function changeServerMessages(
  paths: readonly string[],
  change: (message: Members, request: Request) => void,
): Wrap {
  const streams = changeEvents(paths, (event, request) => {
    if (!event.json) return toEventText(event);
    change(event.json, request);
    return withEventData(event, event.json);
  });
  return (next) => {
    const streamed = streams(next);
    return async (request) => {
      const answer = await streamed(request);
      if (!paths.includes(pathOf(request)) || !isJson(answer)) return answer;
      const value = readJson(await answer.clone().text());
      if (value === undefined) return answer;
      for (const each of [value].flat()) if (isObject(each)) change(each, request);
      return withBody(answer, JSON.stringify(value));
    };
  };
}
