/**
 * The stream that a client reads: it asks for more as it reads, tells of a failure by an `error` event, and lets the
 * model go when the client does.
 *
 * @module
 */
import type { Fields } from "../../http/response.ts";
import { SERVER_FAILED, SkillError } from "../error.ts";
import { type StreamEvent, writeEvent } from "./model_events.ts";

export const STREAM_FIELDS: Fields = [
  ["content-type", "text/event-stream; charset=utf-8"],
  // Proxies would keep events back until they have a page of them.
  ["cache-control", "no-cache, no-transform"],
  ["x-accel-buffering", "no"],
];

export interface StreamOptions {
  /** Aborted when the reader is gone, by whoever hears of it first. */
  readonly gone: AbortController;
  /** Called when there is nothing more to leave. */
  readonly onEnd: () => void;
  /** Hears of what is nobody's refusal. */
  readonly onFault: (error: unknown) => void;
}

const encoder = new TextEncoder();
const LF = 10;

/** Events as they are made. */
export function streamEvents(
  events: AsyncGenerator<StreamEvent>,
  options: StreamOptions,
): ReadableStream<Uint8Array> {
  return streamChunks(encode(events), options);
}

async function* encode(events: AsyncGenerator<StreamEvent>): AsyncGenerator<Uint8Array> {
  for await (const event of events) yield encoder.encode(writeEvent(event));
}

/** Bytes of an event stream, as they come. Where they break off within an event, so does the stream. */
export function streamChunks(
  chunks: AsyncGenerator<Uint8Array>,
  { gone, onEnd, onFault }: StreamOptions,
): ReadableStream<Uint8Array> {
  let last: readonly (number | undefined)[] = [LF, LF];
  let cancelled = false;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (cancelled) return;
        if (done) {
          onEnd();
          return controller.close();
        }
        last = value.length > 1 ? [value.at(-2), value.at(-1)] : [last[1], ...value];
        controller.enqueue(value);
      } catch (error) {
        onEnd();
        if (cancelled) return;
        if (gone.signal.aborted) return controller.error(gone.signal.reason);
        // What was begun cannot be taken back: a reader must not take half an event for a whole one.
        if (last.some((byte) => byte !== LF)) return controller.error(error);
        controller.enqueue(encoder.encode(writeEvent(toErrorEvent(error, onFault))));
        controller.close();
      }
    },
    async cancel() {
      cancelled = true;
      onEnd();
      gone.abort();
      await chunks.return(undefined).catch(() => {});
    },
  });
}

function toErrorEvent(error: unknown, onFault: (error: unknown) => void): StreamEvent {
  if (error instanceof SkillError) {
    return { type: "error", error: { type: error.type, message: error.message } };
  }
  onFault(error);
  return { type: "error", error: { type: "api_error", message: SERVER_FAILED } };
}
