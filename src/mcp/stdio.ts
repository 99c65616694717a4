/**
 * The stdio transport (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#stdio): one JSON
 * message a line, nothing else on the output.
 *
 * @module
 */
import { dispatch, dispatchBatch, type Dispatcher } from "../jsonrpc/dispatch.ts";
import { INVALID_REQUEST, RpcError } from "../jsonrpc/error.ts";
import { parseJson, type Response, writeResponse, writeResponses } from "../jsonrpc/message.ts";
import type { CallContext } from "./definition.ts";

/** Characters of one message. */
const LONGEST_LINE = 4 * 1024 * 1024;

/**
 * Answers messages until the input ends and every call is answered. Calls run at the same time; answers come as
 * they are ready.
 */
export async function serveStdio(
  dispatcher: Dispatcher<CallContext>,
  input: ReadableStream<Uint8Array>,
  output: WritableStream<Uint8Array>,
  context: CallContext,
): Promise<void> {
  const writer = output.getWriter();
  const encoder = new TextEncoder();
  const write = async (text: string): Promise<void> => {
    await writer.ready;
    await writer.write(encoder.encode(text + "\n"));
  };
  const underWay = new Set<Promise<void>>();
  for await (const line of readLines(input)) {
    const work = (line === undefined ? tooLong() : answer(dispatcher, line, context)).then(async (text) => {
      if (text !== undefined) await write(text);
    });
    underWay.add(work);
    work.finally(() => underWay.delete(work)).catch(() => {});
  }
  await Promise.all(underWay);
  await writer.ready;
  writer.releaseLock();
}

async function answer(
  dispatcher: Dispatcher<CallContext>,
  line: string,
  context: CallContext,
): Promise<string | undefined> {
  let value: unknown;
  try {
    value = parseJson(line);
  } catch (error) {
    return writeResponse({ id: null, error: error as RpcError });
  }
  if (!Array.isArray(value)) {
    const response = await dispatch(dispatcher, value, context);
    return response && writeResponse(response);
  }
  const responses = await dispatchBatch(dispatcher, value, context);
  return responses &&
    (Array.isArray(responses) ? writeResponses(responses) : writeResponse(responses as Response));
}

async function tooLong(): Promise<string> {
  const message = `Invalid Request: a message may have at most ${LONGEST_LINE} characters`;
  return writeResponse({ id: null, error: new RpcError(INVALID_REQUEST, message) });
}

/** Lines that are not blank; `undefined` stands for one that was too long and was passed over. */
async function* readLines(input: ReadableStream<Uint8Array>): AsyncGenerator<string | undefined> {
  const decoder = new TextDecoder();
  const reader = input.getReader();
  let rest = "";
  let skipping = false;
  for (;;) {
    const { done, value } = await reader.read();
    const parts = (done ? decoder.decode() : decoder.decode(value, { stream: true })).split("\n");
    for (const [i, part] of parts.entries()) {
      rest += part;
      const ended = i < parts.length - 1 || done;
      if (rest.length > LONGEST_LINE) {
        if (!skipping) yield undefined;
        skipping = true;
        rest = "";
      }
      if (!ended) continue;
      if (!skipping && rest.trim() !== "") yield rest;
      rest = "";
      skipping = false;
    }
    if (done) return;
  }
}
