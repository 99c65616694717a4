/**
 * `npm run learn`: shows a flow in the terminal, each exchange beside its requirements. The vectors of the
 * kit make the exchanges, against Trivet in this process or another server.
 *
 * @module
 */
import { once } from "node:events";
import process from "node:process";
import { createInterface, type Interface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { openTarget } from "../runner/target/open_target.ts";
import type { Flow } from "./flow.ts";
import { FLOWS } from "./flows.ts";
import { type Block, showFlow } from "./show_flow.ts";

const ROOT: string = fileURLToPath(new URL("..", import.meta.url));
const MAX_WIDTH = 160;

const USAGE = `Usage: npm run learn -- [flow] [options]

Flows     ${FLOWS.map(({ name, title }) => `${name.padEnd(20)}${title}`).join("\n          ")}

Options   --all              do not stop after each exchange; without a flow, show all flows
          --target FILE|URL  a target file or a URL, in place of Trivet in this process
          --stdio "COMMAND"  a server on standard input and output
          --module FILE      a module that exports fetch
          --width N          width in columns (that of the terminal, else 100)

Exit      0 every vector passed or was skipped, 1 a vector failed, 2 could not run
`;

const COLORS: Readonly<Record<Block["kind"], string>> = {
  flow: "1",
  part: "1",
  exchange: "0",
  repeated: "90",
  passed: "32",
  failed: "31",
  skipped: "33",
};

// The reader of the output (`head`, say) may close it early.
process.stdout.on("error", () => process.exit());
process.exitCode = await main(process.argv.slice(2));
// A stream or timer that a target left open must not keep the process alive.
setTimeout(() => process.exit(), 500).unref();

async function main(args: readonly string[]): Promise<number> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  let terminal: Interface | undefined;
  try {
    const { values, positionals } = parseArguments(args);
    if (values.help || positionals.length === 0 && !values.all && !isTerminal) {
      process.stdout.write(USAGE);
      return 0;
    }
    if (isTerminal && !values.all) {
      terminal = createInterface({ input: process.stdin, output: process.stdout });
    }
    const flows = positionals.length > 0
      ? positionals.map(getFlow)
      : terminal
      ? [await askForFlow(terminal)]
      : FLOWS;
    const width = Math.min(Number(values.width ?? (process.stdout.columns || 100)), MAX_WIDTH);
    if (!(width >= 40)) {
      throw new TypeError(`Invalid --width "${values.width}": use a number of at least 40.`);
    }
    return await walkAll(flows, values, width, terminal);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return 2;
  } finally {
    terminal?.close();
  }
}

interface Values {
  readonly target?: string;
  readonly stdio?: string;
  readonly module?: string;
}

async function walkAll(
  flows: readonly Flow[],
  { target, stdio, module }: Values,
  width: number,
  terminal: Interface | undefined,
): Promise<number> {
  const requirements = loadRequirements(ROOT);
  const vectors = new Map(loadVectors(ROOT, ["all"], requirements).map((each) => [each.name, each]));
  const isOwn = target === undefined && stdio === undefined && module === undefined;
  const opened = await openTarget({
    ...(isOwn && { target: `${ROOT}targets/trivet.json` }),
    ...(target !== undefined && { target }),
    ...(stdio !== undefined && { stdio }),
    ...(module !== undefined && { module }),
  });
  const seed = crypto.randomUUID().slice(0, 8);
  let exitCode = 0;
  let last: Block["kind"] | undefined;
  try {
    for (const flow of flows) {
      // The secrets of Trivet in this process are test data and need no mask.
      const blocks = showFlow(flow, { target: opened, seed, isMasked: !isOwn, requirements, vectors, width });
      for await (const block of blocks) {
        const before = last === "repeated" && block.kind !== "repeated" ? "\n" : "";
        await print(`${before}${paint(block)}\n${block.kind === "repeated" ? "" : "\n"}`);
        last = block.kind;
        if (block.kind === "failed") exitCode = 1;
        if (block.kind === "exchange" && terminal && !await askToContinue(terminal)) return exitCode;
      }
    }
    return exitCode;
  } finally {
    await opened.close();
  }
}

async function print(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

function paint({ kind, lines }: Block): string {
  const text = lines.join("\n");
  const hasColor = process.stdout.isTTY === true && !process.env["NO_COLOR"];
  return hasColor && kind !== "exchange" ? `\x1b[${COLORS[kind]}m${text}\x1b[0m` : text;
}

async function askToContinue(terminal: Interface): Promise<boolean> {
  const said = await question(terminal, "Press Enter to continue, q to quit: ");
  process.stdout.write("\n");
  return said !== undefined && !/^q/i.test(said.trim());
}

async function askForFlow(terminal: Interface): Promise<Flow> {
  const lines = FLOWS.map(({ title }, at) => `  ${at + 1}  ${title}\n`).join("");
  const said = (await question(terminal, `${lines}Choose a flow (1 to ${FLOWS.length}): `))?.trim() ?? "";
  return FLOWS[Number(said) - 1] ?? getFlow(said);
}

/** Asks a question. `undefined` if the input has ended. */
async function question(terminal: Interface, text: string): Promise<string | undefined> {
  const leave = new AbortController();
  const onClose = () => leave.abort();
  terminal.once("close", onClose);
  try {
    return await terminal.question(text, { signal: leave.signal });
  } catch {
    return undefined;
  } finally {
    terminal.off("close", onClose);
  }
}

function getFlow(name: string): Flow {
  const flow = FLOWS.find((each) => each.name === name);
  if (flow) return flow;
  const names = FLOWS.map((each) => each.name).join(", ");
  throw new TypeError(`Unknown flow "${name}". Available flows: ${names}.`);
}

function parseArguments(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      all: { type: "boolean" },
      target: { type: "string" },
      stdio: { type: "string" },
      module: { type: "string" },
      width: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
}
