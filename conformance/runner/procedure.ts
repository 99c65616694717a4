/**
 * What no standard defines and a target brings along: signing in, allowing, moving the clock on (`FORMAT.md` section 9).
 *
 * @module
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { createInterface } from "node:readline/promises";
import { within } from "./exchange.ts";
import { parseJson } from "./match.ts";
import { NotClaimed, Unexpected } from "./outcome.ts";
import { fill } from "./template.ts";
import { isMembers, type Members, type Step } from "./vector_file.ts";
import type { World } from "./world.ts";

const EXEC_SECONDS = 60;

/**
 * Runs a procedure in the vector's own variables.
 * @param runStep runs one step, for procedures that are steps
 */
export async function callProcedure(
  name: string,
  world: World,
  runStep: (step: Step, world: World) => Promise<void>,
): Promise<void> {
  const procedure = world.target.procedures.get(name);
  if (!procedure) throw new NotClaimed(`procedure:${name}`);
  if (typeof procedure === "function") {
    try {
      const captured = Promise.resolve(procedure(world.variables));
      Object.assign(world.variables, await within(captured, EXEC_SECONDS, "Its end"));
    } catch (error) {
      throw new Unexpected(
        `The procedure "${name}" failed: ${error instanceof Error ? error.message : error}`,
      );
    }
  } else if (Array.isArray(procedure)) {
    for (const step of procedure as readonly Step[]) await runStep(step, world);
  } else if ("exec" in procedure) {
    Object.assign(
      world.variables,
      await execute(name, procedure as { exec: readonly string[] }, world.variables),
    );
  } else {
    const { ask, capture } = procedure as { ask: string; capture: string };
    world.variables[capture] = await askPerson(String(fill(ask, world.variables)));
  }
}

function execute(
  name: string,
  { exec: [program = "", ...args], cwd }: { readonly exec: readonly string[]; readonly cwd?: string },
  variables: Members,
): Promise<Members> {
  return new Promise((resolve, reject) => {
    const refuse = (why: string) => reject(new Unexpected(`The procedure "${name}" failed: ${why}`));
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"], ...(cwd && { cwd }) });
    const late = setTimeout(() => {
      child.kill("SIGKILL");
      refuse(`"${program}" did not end within ${EXEC_SECONDS} s`);
    }, EXEC_SECONDS * 1000);
    let text = "";
    child.on("error", (error) => {
      clearTimeout(late);
      refuse(error.message);
    });
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk: Uint8Array) => {
      if (text.length < 1 << 20) text += String(chunk);
    });
    child.on("close", (code) => {
      clearTimeout(late);
      const captured = parseJson(text);
      if (code !== 0) refuse(`"${program}" ended with exit code ${code}`);
      else if (!isMembers(captured)) refuse(`"${program}" wrote no object of JSON`);
      else resolve(captured);
    });
    child.stdin.end(JSON.stringify(variables));
  });
}

async function askPerson(question: string): Promise<string> {
  if (!process.stdin.isTTY) throw new NotClaimed("a person at the terminal");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(`\n${question}\n> `)).trim();
  } finally {
    terminal.close();
  }
}
