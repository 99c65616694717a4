/**
 * Requests of the server to the client of a session: elicitation, sampling, roots, in the revisions with a handshake.
 * The question goes out on a stream; its answer is posted to any instance, which hands it over through the store.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";
import type { Answer } from "../../jsonrpc/message.ts";
import type { Key, Store } from "../../store/store.ts";
import type { Session } from "../session/session.ts";
import { passOver, type Wakeups, wakingKey } from "../session/wakeups.ts";

export interface QuestionOptions {
  readonly store: Store;
  readonly wakeups: Wakeups;
  readonly now: () => number;
}

/** Milliseconds that the client, and the person before it, may take. */
const PATIENCE = 30 * 60_000;
/** How often to look without being woken, in milliseconds. */
const LOOK_EVERY = 10_000;

/**
 * Asks, and waits for the answer's result. `send` puts the request on a stream.
 * @throws {RpcError} when the client answers with an error, or not at all in half an hour
 * @throws the signal's reason when it aborts
 */
export async function askClient(
  { store, wakeups, now }: QuestionOptions,
  session: Session,
  method: string,
  params: unknown,
  send: (json: string) => void,
  signal: AbortSignal,
): Promise<unknown> {
  const id = randomId("");
  const key = answerKey(session, id);
  const question = questionKey(session, id);
  let wake = (): void => {};
  const stop = wakeups.listen(key.slice(1), () => wake());
  const onAbort = (): void => wake();
  signal.addEventListener("abort", onAbort);
  const until = now() + PATIENCE;
  try {
    await store.commit({ set: [{ key: question, value: true, expires: until }] });
    send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    for (;;) {
      const woken = new Promise<void>((resolve) => wake = resolve);
      const entry = await store.get<Pick<Answer, "result" | "error">>(key).catch(passOver);
      if (entry) {
        if (entry.value.error === undefined) return entry.value.result;
        throw refusal(method, entry.value.error);
      }
      signal.throwIfAborted();
      if (now() >= until) throw new RpcError(INTERNAL_ERROR, `Timeout: the client did not answer ${method}`);
      let timer: ReturnType<typeof setTimeout> | undefined;
      await Promise.race([woken, new Promise<void>((resolve) => timer = setTimeout(resolve, LOOK_EVERY))]);
      clearTimeout(timer);
    }
  } finally {
    stop();
    signal.removeEventListener("abort", onAbort);
    // An answer that comes now comes too late. What cannot be removed expires.
    await store.commit({ remove: [key, question] }).catch(() => {});
  }
}

/** Hands over a client's answer; `false` when nobody asked, or it was answered. */
export async function answerQuestion(
  { store, now }: QuestionOptions,
  session: Session,
  { id, result, error }: Answer,
): Promise<boolean> {
  if (typeof id !== "string") return false;
  const question = await store.get(questionKey(session, id));
  if (!question) return false;
  const value = error === undefined ? { result: result ?? null } : { error };
  return await store.commit({
    check: [{ key: question.key, version: question.version }],
    set: [{ key: answerKey(session, id), value, expires: now() + PATIENCE }],
    remove: [question.key],
  });
}

/** What a client's error becomes for the tool that asked. Clients send anything in its place. */
export function refusal(method: string, error: unknown): RpcError {
  const { code, message } = Object(error) as { code?: unknown; message?: unknown };
  return new RpcError(
    Number.isSafeInteger(code) ? code as number : INTERNAL_ERROR,
    `The client answered ${method} with an error: ${
      typeof message === "string" ? message.slice(0, 500) : "no message"
    }`,
  );
}

function answerKey({ id }: Session, question: string): Key {
  return wakingKey("answer", id, question);
}

function questionKey({ id }: Session, question: string): Key {
  return ["mcp_question", id, question];
}
