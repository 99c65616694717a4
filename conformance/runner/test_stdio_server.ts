/**
 * A JSON-RPC server on standard input and output for the tests of the runner. Each method behaves correctly
 * or wrongly as its name says.
 *
 * @module
 */
import process from "node:process";
import { createInterface } from "node:readline";

const say = (message: unknown) => void process.stdout.write(JSON.stringify(message) + "\n");

const METHODS: Readonly<Record<string, (id: unknown) => void>> = {
  right: (id) => say({ jsonrpc: "2.0", id, result: "right" }),
  late: (id) => void setTimeout(() => say({ jsonrpc: "2.0", id, result: "late" }), 50),
  noisy(id) {
    say({ jsonrpc: "2.0", method: "notice" });
    process.stdout.write("this is not JSON\n");
    say({ jsonrpc: "2.0", id, result: "after noise" });
  },
  broken(id) {
    // The first bytes of an incomplete character.
    process.stdout.write(Uint8Array.from([0x22, 0xf0, 0x9f, 0x92, 0x22, 10]));
    say({ jsonrpc: "2.0", id, result: "after it" });
  },
  endless: (id) => void process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: "" })),
  hang: () => {},
  leave: () => process.exit(3),
  flood() {
    const more = () => {
      while (process.stdout.write("x".repeat(65_536)));
      process.stdout.once("drain", more);
    };
    process.stdout.on("error", () => process.exit());
    more();
  },
};

const keep = process.argv.includes("--stays") ? setInterval(() => {}, 1000) : undefined;
createInterface({ input: process.stdin }).on("line", (line) => {
  try {
    const message = JSON.parse(line);
    if (Array.isArray(message)) say(message.map(({ id }) => ({ jsonrpc: "2.0", id, result: "of a batch" })));
    else METHODS[message.method]?.(message.id);
  } catch {
    say({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
  }
}).on("close", () => {
  if (!keep) process.exitCode = 0;
});
