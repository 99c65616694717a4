import { suite } from "uvu";
import * as assert from "uvu/assert";
import { formatBytes, metered, type Progress, type Terminal, withProgressBar } from "./progress_bar.ts";

const test = suite("withProgressBar");

interface FakeTerminal extends Terminal {
  /** The current text of the line. */
  line(): string;
  /** Every drawn line. */
  readonly seen: readonly string[];
}

/** A terminal of one line. @throws {Error} for a line that is too long and for other control sequences than a bar needs */
function fakeTerminal(columns?: number): FakeTerminal {
  let shown = "";
  const seen: string[] = [];
  return {
    isTTY: true,
    columns,
    line: () => shown,
    seen,
    write(text) {
      // deno-lint-ignore no-control-regex
      for (const [part] of text.matchAll(/\r\x1b\[K|[^\r\x1b]+|[^]/g)) {
        if (part === "\r\x1b[K") shown = "";
        // deno-lint-ignore no-control-regex
        else if (/^[^\x00-\x1f]+$/.test(part)) shown += part;
        else throw new Error(`unexpected output ${JSON.stringify(part)}`);
        if (shown.length >= (columns ?? 80)) throw new Error(`the line is too long: ${shown}`);
      }
      if (shown !== "") seen.push(shown);
    },
  };
}

/** Runs a transfer with a clock that `wait` advances. */
async function draw(
  terminal: Terminal | undefined,
  transfer: (progress: Progress, wait: (milliseconds: number) => void) => void,
): Promise<void> {
  let time = 1000;
  await withProgressBar(
    "pulling",
    terminal,
    (progress) => Promise.resolve(transfer(progress, (milliseconds) => void (time += milliseconds))),
    () => time,
  );
}

test("the bar shows bytes, percentage and rate, and is erased at the end", async () => {
  const terminal = fakeTerminal();
  await draw(terminal, (progress, wait) => {
    progress.begin(8_000_000);
    wait(1000);
    progress.advance(2_000_000);
    assert.is(
      terminal.line(),
      `pulling: [#######                       ]  25%  2.0 MB of 8.0 MB  2.0 MB/s`,
    );
    wait(1000);
    progress.advance(6_000_000);
    assert.is(terminal.line(), `pulling: [${"#".repeat(30)}] 100%  8.0 MB of 8.0 MB  4.0 MB/s`);
  });
  assert.is(terminal.line(), "");
});

test("the bar is drawn after half a second, at most ten times per second", async () => {
  const terminal = fakeTerminal();
  await draw(terminal, (progress, wait) => {
    progress.begin(1000);
    for (let i = 0; i < 49; i++) {
      wait(10);
      progress.advance(1);
    }
    assert.equal(terminal.seen, []);
    for (let i = 0; i < 100; i++) {
      wait(10);
      progress.advance(1);
    }
  });
  assert.is(terminal.seen.length, 10);
});

test("a transfer of less than half a second draws nothing", async () => {
  const written: string[] = [];
  await draw({ isTTY: true, write: (text) => written.push(text) }, (progress, wait) => {
    progress.begin(10);
    wait(400);
    progress.advance(10);
  });
  assert.equal(written, []);
});

test("nothing is drawn without a terminal", async () => {
  const written: string[] = [];
  for (const terminal of [undefined, { write: (text: string) => written.push(text) }]) {
    await draw(terminal, (progress, wait) => {
      progress.begin(10);
      wait(1000);
      progress.advance(10);
    });
  }
  assert.equal(written, []);
});

test("an error erases the bar and is thrown", async () => {
  const terminal = fakeTerminal();
  let thrown: unknown;
  await draw(terminal, (progress, wait) => {
    progress.begin(10);
    wait(1000);
    progress.advance(5);
    assert.match(terminal.line(), " 50% ");
    throw new Error("cut off");
  }).catch((error) => thrown = error);
  assert.is((thrown as Error).message, "cut off");
  assert.is(terminal.line(), "");
});

test("without a size the bar shows bytes and rate", async () => {
  const terminal = fakeTerminal();
  await draw(terminal, (progress, wait) => {
    progress.begin(undefined);
    wait(2000);
    progress.advance(3_000);
    assert.is(terminal.line(), "pulling: 3.0 kB  1.5 kB/s");
  });
});

test("begin() resets the count; more bytes than declared are 100%", async () => {
  const terminal = fakeTerminal();
  await draw(terminal, (progress, wait) => {
    progress.begin(100);
    wait(1000);
    progress.advance(90);
    progress.begin(100);
    wait(1000);
    progress.advance(10);
    assert.match(terminal.line(), "]  10%  10 B of 100 B  10 B/s");
    wait(1000);
    progress.advance(200);
    assert.match(terminal.line(), "] 100%  210 B of 100 B  105 B/s");
    progress.begin(0);
    wait(1000);
    progress.advance(0);
    assert.match(terminal.line(), "] 100%  0 B of 0 B");
  });
});

for (const columns of [20, 40, 50, 60, 79, 120]) {
  test(`the bar fits a terminal of ${columns} columns`, async () => {
    const terminal = fakeTerminal(columns);
    await draw(terminal, (progress, wait) => {
      progress.begin(12_345_678);
      wait(1000);
      progress.advance(2_345_678);
      assert.match(terminal.line(), /^pulling: /);
    });
  });
}

test("formatBytes() returns up to three digits and a unit", () => {
  const sizes = [0, 1, 999, 1000, 9_949, 9_951, 999_499, 999_500, 1_500_000, 2e9, 3e12, 4e15];
  assert.equal(sizes.map(formatBytes), [
    "0 B",
    "1 B",
    "999 B",
    "1.0 kB",
    "9.9 kB",
    "10 kB",
    "999 kB",
    "1.0 MB",
    "1.5 MB",
    "2.0 GB",
    "3.0 TB",
    "4000 TB",
  ]);
});

test("metered() yields the chunks and reports their sizes", async () => {
  const reported: number[] = [];
  async function* chunks() {
    yield Uint8Array.of(1, 2, 3);
    yield Uint8Array.of(4);
  }
  const got: number[][] = [];
  const progress = { begin() {}, advance: (bytes: number) => void reported.push(bytes) };
  for await (const chunk of metered(chunks(), progress)) got.push([...chunk]);
  assert.equal(got, [[1, 2, 3], [4]]);
  assert.equal(reported, [3, 1]);
});

test.run();
