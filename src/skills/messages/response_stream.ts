/**
 * The event stream to the client: respects backpressure, reports failures as an `error` event, and aborts the model call
 * when the client disconnects.
 *
 * @module
 */
import { SERVER_FAILED } from "../../http/response.ts";
import type { Fields } from "../../http/response.ts";
import { SkillError } from "../error.ts";
import { type StreamEvent, writeEvent } from "./model_events.ts";

export const STREAM_FIELDS: Fields = [
  ["content-type", "text/event-stream; charset=utf-8"],
  // Proxies must not buffer events.
  ["cache-control", "no-cache, no-transform"],
  ["x-accel-buffering", "no"],
];

export interface StreamOptions {
  /** Aborted when the client disconnects. */
  readonly disconnected: AbortController;
  /** Called when the stream has ended. */
  readonly onEnd: () => void;
  /** Called for unexpected errors. */
  readonly onFault: (error: unknown) => void;
}

const encoder = new TextEncoder();

/** Streams each event as soon as it exists. */
export function streamEvents(
  events: AsyncGenerator<StreamEvent>,
  options: StreamOptions,
): ReadableStream<Uint8Array> {
  return streamChunks(encode(events), options);
}

async function* encode(events: AsyncGenerator<StreamEvent>): AsyncGenerator<Uint8Array> {
  for await (const event of events) yield encoder.encode(writeEvent(event));
}

/** Streams the bytes of an event stream. If they end with an error inside an event, the stream fails too. */
export function streamChunks(
  chunks: AsyncGenerator<Uint8Array>,
  { disconnected, onEnd, onFault }: StreamOptions,
): ReadableStream<Uint8Array> {
  let end = "\n\n";
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
        end = (end + String.fromCharCode(...value.subarray(-4))).slice(-4);
        controller.enqueue(value);
      } catch (error) {
        onEnd();
        if (cancelled) return;
        if (disconnected.signal.aborted) return controller.error(disconnected.signal.reason);
        // A client would misread an error event inside another event, so fail the stream.
        if (!end.replace(/\r\n?/g, "\n").endsWith("\n\n")) return controller.error(error);
        controller.enqueue(encoder.encode(writeEvent(toErrorEvent(error, onFault))));
        controller.close();
      }
    },
    async cancel() {
      cancelled = true;
      onEnd();
      disconnected.abort();
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
