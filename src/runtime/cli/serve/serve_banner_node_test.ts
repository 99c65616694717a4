import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { type BannerFacts, printBanner } from "./serve_banner.ts";

const test = suite("cli/serve_banner");

const FACTS: BannerFacts = {
  issuer: "http://127.0.0.1:8787",
  skillFolders: undefined,
  offersSkills: false,
  upstream: undefined,
  hasSse: false,
  module: undefined,
  hasGateway: false,
  demo: undefined,
  showsSecrets: false,
  isFirstStart: false,
  hasAdmin: false,
  needsToken: false,
};

/** What is printed for these facts. */
function print(facts: Partial<BannerFacts>): string {
  const { write } = process.stdout;
  let text = "";
  process.stdout.write = ((chunk: string) => (text += chunk, true)) as typeof write;
  try {
    printBanner({ ...FACTS, ...facts });
  } finally {
    process.stdout.write = write;
  }
  return text;
}

test("the tools of other MCP servers are tools: the banner lists them with a request", () => {
  const isTried = (facts: Partial<BannerFacts>) => print(facts).includes('"method":"tools/list"');
  assert.is(isTried({}), false);
  assert.match(print({}), "trivet serve FILE");
  assert.is(isTried({ hasGateway: true }), true);
  assert.not.match(print({ hasGateway: true }), "trivet serve FILE");
  assert.is(isTried({ module: "tools.ts: add" }), true);
  assert.match(print({ offersSkills: true }), '"name":"list_skills"');
});

test("URLs of an issuer with a slash at its end have no empty segment", () => {
  for (const issuer of ["https://a.example/", "https://a.example/b/"]) {
    const text = print({ issuer, skillFolders: [], offersSkills: true, hasAdmin: true });
    assert.match(text, `${issuer}oauth/token`);
    assert.not.match(text, /\w\/\/\w+\b(?!\.example)/);
  }
});

test.run();
