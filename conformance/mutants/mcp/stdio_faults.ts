/**
 * Lines of a server on standard input and output with one thing changed.
 *
 * @module
 */
import { isObject, type Members, readJson } from "../jsonrpc/rpc_message.ts";
import type { LineFault } from "./stdio_ground.ts";

/** Changes messages of the server, in place. */
export const said = (change: (message: Members) => void) => (): LineFault => ({
  write(line) {
    const message = readJson(line);
    for (const each of [message].flat()) if (isObject(each)) change(each);
    return `${JSON.stringify(message)}\n`;
  },
});

/** Changes ids of responses. */
export const renumbered = (change: (id: unknown) => unknown): () => LineFault =>
  said((message) => {
    if (!("method" in message) && "id" in message) message["id"] = change(message["id"]);
  });

/** Reads other messages than those that came; what is not JSON is not asked about. */
export const read = (change: (message: unknown, line: string) => unknown) => (): LineFault => ({
  read(line) {
    const message = readJson(line);
    return message === undefined ? [line] : [JSON.stringify(change(message, line))];
  },
});

/** Reads nothing more after a line that `when` picks. */
export const diesOf = (when: (message: unknown) => boolean) => (): LineFault => {
  let isDead = false;
  return {
    read(line) {
      if (isDead) return [];
      isDead = when(readJson(line));
      return [line];
    },
  };
};

/** Says of lines that `when` picks that they are not JSON. */
export const unreadable = (when: (line: string) => boolean) => (): LineFault => ({
  read(line, say) {
    if (!when(line)) return [line];
    say('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n');
    return [];
  },
});

/** Answers for the server where a message is picked. */
export const answered = (change: (message: Members) => unknown) => (): LineFault => ({
  read(line, say) {
    const message = readJson(line);
    const answer = isObject(message) ? change(message) : undefined;
    if (answer === undefined) return [line];
    say(`${JSON.stringify(answer)}\n`);
    return [];
  },
});

export const isMethod = (message: unknown, method: string): message is Members =>
  isObject(message) && message["method"] === method;

export const paramsOf = (message: Members): Members => isObject(message["params"]) ? message["params"] : {};

export const isModern = (message: Members): boolean => isObject(paramsOf(message)["_meta"]);

/** Errors of a code as results. */
export const forgiven = (...codes: number[]): () => LineFault =>
  said((message) => {
    const error = message["error"];
    if (!isObject(error) || !codes.includes(Number(error["code"]))) return;
    delete message["error"];
    message["result"] = { contents: [], messages: [], resultType: "complete" };
  });
