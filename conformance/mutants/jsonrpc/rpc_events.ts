/**
 * Messages of MCP with one thing changed, whether they come as JSON or as an event of a stream.
 *
 * @module
 */
import { pathOf, withBody } from "../message.ts";
import type { Wrap } from "../mutant.ts";
import { isJson, isObject, type Members, readJson } from "./rpc_message.ts";

/** An event of a stream as its lines, without the empty one at the end; `json` is its data. */
export interface Event {
  readonly lines: readonly string[];
  readonly json: Members | undefined;
}

const isStream = (answer: Response): boolean =>
  /^text\/event-stream\b/i.test(answer.headers.get("content-type") ?? "");

/** The texts of events in place of one. */
type Change = (event: Event, request: Request) => readonly string[] | string;

/** Changes the events of streams. */
export function faultyStreams(paths: readonly string[], change: Change): Wrap {
  return (next) => async (request) => {
    const answer = await next(request);
    if (!paths.includes(pathOf(request)) || !isStream(answer) || !answer.body) return answer;
    const body = answer.body.pipeThrough(changeEvents((event) => change(event, request)));
    return new Response(body, { status: answer.status, headers: answer.headers });
  };
}

function changeEvents(
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

export const textOf = ({ lines }: Event): string => lines.join("\n");

/** The event with other data. */
export const withJson = ({ lines }: Event, json: unknown): string =>
  lines.map((line) => line.startsWith("data:") ? `data: ${JSON.stringify(json)}` : line).join("\n");

/** Changes each message that the server sends, as JSON or in a stream, in place. */
export function faultyWords(
  paths: readonly string[],
  change: (message: Members, request: Request) => void,
): Wrap {
  const streams = faultyStreams(paths, (event, request) => {
    if (!event.json) return textOf(event);
    change(event.json, request);
    return withJson(event, event.json);
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
