/**
 * A server on standard input and output, without a process: lines go in and out of Trivet's tool server in this one, and a
 * fault may sit between.
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

/** A fault between a server and its client, made anew for each process. */
export interface LineFault {
  /** The lines that the server reads in place of one that came. `say` writes to the client. */
  readonly read?: (line: string, say: (text: string) => void) => readonly string[] | void;
  /** The text that is written in place of a line, its end included. */
  readonly write?: (line: string) => string;
  /** It goes on when its input is closed. */
  readonly staysOpen?: boolean;
}

const NAMES =
  JSON.parse(readFileSync(new URL("../../targets/trivet.json", import.meta.url), "utf8")).vars.mcp;

export function stdioProgram(fault: () => LineFault): StdioProgram {
  return { open: () => open(fault()) };
}

function open({ read, write = (line) => `${line}\n`, staysOpen }: LineFault): ChildProcess {
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
  stdin.on("end", () => void (staysOpen || lines.close().catch(() => {})));
  const written = new PassThrough();
  onLines(written, (line) => stdout.write(write(line)));
  const output = Writable.toWeb(written) as WritableStream<Uint8Array>;
  newServer().mcp!.serveStdio(input.readable, output).finally(() => {
    process.exitCode = 0;
    stdout.end(() => process.emit("close", 0));
  });
  return process as unknown as ChildProcess;
}

/** Not by `node:readline`, which ends lines at U+2028 too. */
function onLines(stream: PassThrough, take: (line: string) => void): void {
  const decoder = new TextDecoder();
  let rest = "";
  stream.on("data", (chunk: Uint8Array) => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    lines.forEach(take);
  });
}

/** As `targets/trivet_stdio.ts` serves it. */
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
