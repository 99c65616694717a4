import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readArguments } from "../options.ts";
import { UsageError } from "../output.ts";
import { PAGE_OPTIONS, readPages } from "./serve_pages.ts";

const test = suite("cli/serve_pages");
const folder = mkdtempSync(join(tmpdir(), "trivet-logo-"));
test.after(() => rmSync(folder, { recursive: true }));

const read = (...argv: string[]) => readPages(readArguments(argv, PAGE_OPTIONS).values);

test("without options the pages have their defaults", () => assert.equal(read(), { defaultLanguage: "en" }));

test("name, colour, language and a logo in a file become the option pages", () => {
  const path = join(folder, "logo.PNG");
  writeFileSync(path, "image");
  assert.equal(
    read("--page-name", "Acme", "--page-accent", "#5b2a86", "--page-language", "de", "--page-logo", path),
    {
      name: "Acme",
      colors: { accent: "#5b2a86" },
      defaultLanguage: "de",
      logo: "data:image/png;base64,aW1hZ2U=",
    },
  );
  const url = "https://cdn.acme.example/logo";
  assert.is(read("--page-logo", url).logo, url);
});

test("what the server does not accept is a usage error that names the option", () => {
  const large = join(folder, "large.svg");
  writeFileSync(large, "x".repeat(50_000));
  for (
    const [option, value] of [
      ["page-accent", "#eee"],
      ["page-accent", "red"],
      ["page-name", ""],
      ["page-logo", join(folder, "missing.png")],
      ["page-logo", join(folder, "logo.txt")],
      ["page-logo", "http://a.example/logo.png"],
      ["page-logo", large],
      ["page-language", "fr"],
    ] as const
  ) {
    assert.throws(
      () => read(`--${option}`, value),
      (error: Error) => error instanceof UsageError && error.message.includes(`--${option}`),
      `${option} ${value}`,
    );
  }
});

test.run();
