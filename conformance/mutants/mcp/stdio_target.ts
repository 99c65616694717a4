/**
 * Trivet's MCP server over stdio within this process, with a fault between the server and its client.
 *
 * @module
 */
import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { PassThrough, Writable } from "node:stream";
import { everything } from "../../../fixtures/everything/everything.ts";
import { createTrivet, memoryStore, type Trivet } from "../../../src/mod.ts";
import type { StdioProgram } from "../../runner/exchange/send_stdio.ts";
import { vectorTools } from "../../targets/trivet_tools.ts";

/** A fault between a server and its client, created for each process. */
export interface LineFault {
  /** Returns the lines that the server reads in place of one. `respond` writes to the client. */
  readonly read?: (line: string, respond: (text: string) => void) => readonly string[] | void;
  /** Returns the text to write in place of a line, including its line end. */
  readonly write?: (line: string) => string;
  /** The server keeps running when its input is closed. */
  readonly ignoresEnd?: boolean;
}

const NAMES =
  JSON.parse(readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8")).vars.mcp;

export function stdioProgram(fault: () => LineFault): StdioProgram {
  return { open: () => open(fault()) };
}

function open({ read, write = (line) => `${line}\n`, ignoresEnd }: LineFault): ChildProcess {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const process = Object.assign(new EventEmitter(), {
    stdin,
    stdout,
    stderr: new PassThrough(),
    exitCode: null as number | null,
    signalCode: null,
    pid: undefined,
  });
  const input = new TextEncoderStream();
  const lines = input.writable.getWriter();
  onLines(stdin, (line) => {
    for (const each of read?.(line, (text) => stdout.write(text)) ?? [line]) {
      lines.write(`${each}\n`).catch(() => {});
    }
  });
  stdin.on("end", () => void (ignoresEnd || lines.close().catch(() => {})));
  const written = new PassThrough();
  onLines(written, (line) => stdout.write(write(line)));
  const output = Writable.toWeb(written) as WritableStream<Uint8Array>;
  newServer().mcp!.serveStdio(input.readable, output).finally(() => {
    process.exitCode = 0;
    stdout.end(() => process.emit("close", 0));
  });
  return process as unknown as ChildProcess;
}

/** Not with `node:readline`, which also splits lines at U+2028. */
function onLines(stream: PassThrough, take: (line: string) => void): void {
  const decoder = new TextDecoder();
  let rest = "";
  stream.on("data", (chunk: Uint8Array) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    lines.forEach(take);
  });
}

/** The same server as `targets/trivet_stdio.ts`. */
function newServer(): Trivet {
  const trivet: Trivet = createTrivet({
    issuer: "http://127.0.0.1:8787",
    store: memoryStore(),
    oauth: false,
    skills: { auth: "off" },
    mcp: { auth: "off", definitions: [...everything(() => trivet.mcp!), ...vectorTools(NAMES)] },
  });
  return trivet;
}
