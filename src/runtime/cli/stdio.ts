/**
 * `trivet stdio`: the tool server for one client that started this process. Standard output carries messages only.
 *
 * @module
 */
import { join, resolve } from "node:path";
import process from "node:process";
import { createTrivet } from "../../trivet.ts";
import { skillFolder } from "../skill_folder.ts";
import { DATA_HELP, DATA_OPTION, openStore, readPlace } from "./data.ts";
import { ensureSkills } from "./demo.ts";
import { printError, readArguments, textOption } from "./output.ts";

export const summary = "serves tools to one MCP client over standard input and output";
export const help: string = `trivet stdio: serves tools to one MCP client over standard input and output

Usage: trivet stdio [options]

${DATA_HELP}
  --skills DIR   folder of local skills (default: DIR/skills)

In a client's configuration:
  { "mcpServers": { "trivet": { "command": "npx", "args": ["trivet", "stdio", "--data", "/path/to/data"] } } }
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values } = readArguments(argv, { ...DATA_OPTION, skills: { type: "string" } });
  const place = readPlace(values, process.env);
  const skills = resolve(textOption(values, "skills") ?? join(place.folder, "skills"));
  const store = await openStore(place);
  try {
    ensureSkills(skills);
    const blobs = await place.openBlobs();
    const trivet = createTrivet({
      issuer: "http://127.0.0.1",
      store,
      skills: { folders: [skillFolder(skills)], ...(blobs && { blobs }) },
      onEvent: (event) => {
        if (event.type === "fault") printError(`trivet: fault in ${event.where}: ${String(event.error)}`);
      },
    });
    // Who may start the process may read what it serves.
    const principal = { client: "stdio", workspace: "default", scopes: new Set(["skills:read"]) };
    await trivet.mcp!.serveStdio(readInput(), writeOutput(), principal);
  } finally {
    await store.close();
  }
}

function readInput(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      process.stdin.on("data", (chunk: Uint8Array) => {
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 0) <= 0) process.stdin.pause();
      });
      process.stdin.on("end", () => controller.close());
      process.stdin.on("error", (error) => controller.error(error));
    },
    pull() {
      process.stdin.resume();
    },
    cancel() {
      process.stdin.destroy();
    },
  }, { highWaterMark: 16 });
}

function writeOutput(): WritableStream<Uint8Array> {
  return new WritableStream({
    write: (chunk) =>
      new Promise<void>((resolve, reject) => {
        process.stdout.write(chunk, (error) => error ? reject(error) : resolve());
      }),
  });
}
