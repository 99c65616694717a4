/**
 * Reads the fenced blocks of a guide, which are its steps:
 *
 * - `ts server.ts`: a language and a name: the file is written.
 * - `sh`: commands of one terminal, which keeps its variables. `sh fails`: the last of them must fail.
 * - `sh background`: a command that keeps running in a terminal of its own.
 * - `text` right after commands: what they print; `...` stands for any text, alone on a line for any lines.
 * - any language and `untested`, or `fragment`: not run. The tests count these.
 *
 * A fence inside of an HTML comment is a step that readers do not see. `<!-- test: stop -->` presses Ctrl+C in the newest
 * background terminal, and `<!-- test: needs NAME -->` names a program without which the guide is skipped.
 *
 * @module
 */

/** A block that is run, with the line in the guide where it begins. */
export type Step =
  | { readonly kind: "file"; readonly name: string; readonly text: string; readonly line: number }
  | {
    readonly kind: "run";
    readonly text: string;
    readonly output: string | undefined;
    readonly fails: boolean;
    readonly line: number;
  }
  | {
    readonly kind: "background";
    readonly text: string;
    readonly output: string | undefined;
    readonly line: number;
  }
  | { readonly kind: "stop"; readonly line: number };

/** The steps of a guide. */
export interface Guide {
  readonly steps: readonly Step[];
  /** Blocks that are not run. */
  readonly untested: number;
  /** Programs that it needs beside those that every guide needs. */
  readonly needs: readonly string[];
}

const FENCE = /^(`{3,})(\S*) ?(.*)$/;
const COMMAND = /^<!-- test: (\S+) ?(.*?) -->$/;
const SHELL = new Set(["sh", "bash"]);
/** A path with an ending, or a name that has none. */
const FILE_NAME = /^[\w@./[\]-]+\.\w+$|^([\w./-]+\/)?(Caddyfile|Dockerfile)$/;

/** @throws {Error} with the line, for a block that is neither a step nor marked as one that is not run */
export function parseGuide(markdown: string): Guide {
  const lines = markdown.split("\n");
  const steps: Step[] = [];
  const needs: string[] = [];
  let untested = 0;
  /** Whether the step before is a command, whose output may follow. */
  let afterCommand = false;

  for (let i = 0; i < lines.length; i++) {
    const line = i + 1;
    const command = COMMAND.exec(lines[i]!);
    if (command) {
      const [, word, rest] = command;
      if (word === "stop") steps.push({ kind: "stop", line });
      else if (word === "needs") needs.push(rest!);
      else throw new Error(`line ${line}: unknown test command "${word}"`);
      afterCommand = false;
    }
    const fence = FENCE.exec(lines[i]!);
    if (!fence) continue;
    const [, ticks, language, info] = fence as unknown as [string, string, string, string];
    const end = lines.indexOf(ticks, i + 1);
    if (end === -1) throw new Error(`line ${line}: the block has no end`);
    const text = lines.slice(i + 1, end).join("\n") + "\n";
    i = end;
    const mayHaveOutput = afterCommand;
    afterCommand = false;
    if (language === "text" && info === "" && mayHaveOutput) {
      const step = steps.pop() as Step & { kind: "run" | "background" };
      checkOutput(text, line);
      steps.push({ ...step, output: text });
    } else if (info === "untested" || info === "fragment") untested++;
    else if (SHELL.has(language) && info === "background") {
      steps.push({ kind: "background", text, output: undefined, line });
      afterCommand = true;
    } else if (SHELL.has(language) && (info === "" || info === "fails")) {
      steps.push({ kind: "run", text, output: undefined, fails: info === "fails", line });
      afterCommand = true;
    } else if (FILE_NAME.test(info)) steps.push({ kind: "file", name: info, text, line });
    else {
      throw new Error(
        `line ${line}: "${language} ${info}" is not a step: name the file, or mark the block "fragment"`,
      );
    }
  }
  return { steps, untested, needs };
}

/** Refuses an output that everything would match. */
function checkOutput(text: string, line: number): void {
  if (!/[a-z0-9]/i.test(text)) throw new Error(`line ${line}: the output says nothing`);
}

/** Whether a guide's output, as a pattern of whole lines, occurs in what was printed. */
export function matchesOutput(pattern: string, printed: string): boolean {
  const lines = pattern.trimEnd().split("\n").map((line) =>
    line.trim() === "..."
      ? "(?:[^\\n]*\\n)*?"
      : line.trimEnd().split("...").map(escapePattern).join("[^\\n]*") + "[^\\S\\n]*\\n"
  );
  return new RegExp(`(?:^|\\n)${lines.join("")}`).test(printed.trimEnd() + "\n");
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
