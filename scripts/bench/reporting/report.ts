/**
 * The report of a run: the tables that were printed, with the facts of the machine, as JSON and as one HTML page beside it.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, platform, totalmem } from "node:os";
import process from "node:process";
import { renderPage, type Row, type Table } from "./page.ts";

/** The tables of this process, in the order in which they were printed. */
const tables: Table[] = [];
const loadAtStart = loadavg()[0]!;

/** Adds a table to the page. */
export function addTable(
  title: string,
  rows: readonly Row[],
  ratio?: string,
): void {
  tables.push({ title, rows, ...(ratio !== undefined && { ratio }) });
}

/** Facts of the machine and of the run, without names of the machine or its user. */
function readFacts(): Record<string, string> {
  return {
    Date: new Date().toISOString().slice(0, 10),
    Runtime: `Node ${process.version}`,
    System: `${platform()} ${arch()}`,
    Processor: `${cpus()[0]?.model.trim() ?? "unknown"}, ${availableParallelism()} cores`,
    Memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    "Load average": `${loadAtStart.toFixed(1)} at the start, ${loadavg()[0]!.toFixed(1)} at the end`,
  };
}

/** Writes the JSON file, and the page with the extension `.html` beside it. */
export function writeReport(
  file: string,
  values: Readonly<Record<string, unknown>>,
): void {
  const facts = readFacts();
  const head = { node: process.version, cores: availableParallelism(), facts };
  writeFileSync(file, JSON.stringify({ ...head, ...values }, null, 2) + "\n");
  const page = file.replace(/\.json$/, "") + ".html";
  writeFileSync(page, renderPage(facts, tables));
  console.log(`\nWrote ${file} and ${page}`);
}

/** Prints what each row of the page does and leaves out, and why rows are noisy. */
export function printExplanations(): void {
  for (const { title, rows } of tables) {
    console.log(`\n${title}`);
    for (const { name, explanation, unsupported, noise = [] } of rows) {
      console.log(`  ${name}: ${explanation ?? "(no explanation)"}`);
      if (unsupported !== undefined) {
        console.log(`    Not supported: ${unsupported}`);
      }
      for (const reason of noise) console.log(`    Noisy: ${reason}`);
    }
  }
}
