/**
 * Changes lines between an MCP server over stdio and its client.
 *
 * @module
 */
import { isObject, type Members, readJson } from "../jsonrpc/message_faults.ts";
import type { LineFault } from "./stdio_target.ts";

/** Changes messages from the server in place. */
export const changeOutput = (change: (message: Members) => void) => (): LineFault => ({
  write(line) {
    const message = readJson(line);
    for (const each of [message].flat()) if (isObject(each)) change(each);
    return `${JSON.stringify(message)}\n`;
  },
});

/** Changes ids of responses. */
export const changeResponseIds = (change: (id: unknown) => unknown): () => LineFault =>
  changeOutput((message) => {
    if (!("method" in message) && "id" in message) message["id"] = change(message["id"]);
  });

/** Changes messages to the server; lines that are not JSON stay unchanged. */
export const changeInput = (change: (message: unknown, line: string) => unknown) => (): LineFault => ({
  read(line) {
    const message = readJson(line);
    return message === undefined ? [line] : [JSON.stringify(change(message, line))];
  },
});

/** Drops every line after one that matches `when`. */
export const stopAfter = (when: (message: unknown) => boolean) => (): LineFault => {
  let isDead = false;
  return {
    read(line) {
      if (isDead) return [];
      isDead = when(readJson(line));
      return [line];
    },
  };
};

/** Answers lines that match `when` with a parse error. */
export const rejectLines = (when: (line: string) => boolean) => (): LineFault => ({
  read(line, respond) {
    if (!when(line)) return [line];
    respond('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n');
    return [];
  },
});

/** Answers in place of the server when `change` returns a response. */
export const answerInput = (change: (message: Members) => unknown) => (): LineFault => ({
  read(line, respond) {
    const message = readJson(line);
    const answer = isObject(message) ? change(message) : undefined;
    if (answer === undefined) return [line];
    respond(`${JSON.stringify(answer)}\n`);
    return [];
  },
});

export const isMethod = (message: unknown, method: string): message is Members =>
  isObject(message) && message["method"] === method;

export const paramsOf = (message: Members): Members => isObject(message["params"]) ? message["params"] : {};

export const isModern = (message: Members): boolean => isObject(paramsOf(message)["_meta"]);

/** Replaces errors that have one of the codes with results. */
export const replaceErrors = (...codes: number[]): () => LineFault =>
  changeOutput((message) => {
    const error = message["error"];
    if (!isObject(error) || !codes.includes(Number(error["code"]))) return;
    delete message["error"];
    message["result"] = { contents: [], messages: [], resultType: "complete" };
  });
