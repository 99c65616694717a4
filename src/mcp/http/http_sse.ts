/**
 * HTTP+SSE, the transport of 2024-11-05 (https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse),
 * for clients of that revision. Messages are posted to the endpoint that the stream names, and every response comes on the
 * stream, on whichever instance it is open. Enabled by an option, at its own paths.
 *
 * @module
 */
import type { Answers } from "./http_answer.ts";
import type { Admit, HttpOptions, SseFactory } from "./http_options.ts";
import { createSsePost } from "./sse_post.ts";
import { SseQueue } from "./sse_queue.ts";
import { createSseStream } from "./sse_stream.ts";

/** Creates the handlers of the stream and of posted messages. `postPath` is the endpoint for messages. */
export function createSseHandlers(
  options: HttpOptions,
  answers: Answers,
  admit: Admit,
  postPath: string,
): ReturnType<SseFactory> {
  let queue: SseQueue | undefined;
  const loadQueue = async (): Promise<SseQueue> => {
    const { storage, streams: { store } } = await options.stateful.load();
    return queue ??= new SseQueue({ store, storage, now: options.now });
  };
  const transport = { options, answers, admit, loadQueue };
  return { open: createSseStream(transport, postPath), post: createSsePost(transport) };
}
