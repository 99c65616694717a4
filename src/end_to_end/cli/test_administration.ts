/**
 * Test kit: commands that administer the store of a running `trivet serve`. Only tests import this.
 *
 * @module
 */
import { join } from "node:path";
import type { Test } from "uvu";
import * as assert from "uvu/assert";
import { type RunningTrivet, startTrivet, temporaryFolder, trivet } from "../test_process.ts";

export interface Administration {
  /** A folder that is removed after the tests. */
  readonly folder: string;
  /** The options that name the store. */
  readonly data: readonly string[];
  /** The server, while a test runs. */
  readonly server: RunningTrivet;
  /** Runs a command that must succeed; what it prints, as JSON. */
  // deno-lint-ignore no-explicit-any
  run(command: string, input?: string): Promise<any>;
  /** Runs a command that must fail; exit code and message. */
  fail(command: string, input?: string): Promise<[number | null, string]>;
  /** The response of the token endpoint to a form. */
  // deno-lint-ignore no-explicit-any
  getToken(form: Record<string, string>): Promise<any>;
}

/** Starts the server before the tests of a suite, and stops it after them. */
export function newAdministration(test: Test): Administration {
  const folder = temporaryFolder();
  const data = ["--data", join(folder.path, "data")];
  let server: RunningTrivet | undefined;
  test.before(async () => {
    server = await startTrivet([...data, "--openid"]);
  });
  test.after(async () => {
    await server?.stop();
    folder.remove();
  });
  return {
    folder: folder.path,
    data,
    get server() {
      return server!;
    },
    async run(command, input = "") {
      const { code, stdout, stderr } = await trivet([...command.split(" "), "--json", ...data], { input });
      assert.is(code, 0, `trivet ${command}: ${stderr}`);
      return stdout === "" ? undefined : JSON.parse(stdout);
    },
    async fail(command, input = "") {
      const { code, stdout, stderr } = await trivet([...command.split(" "), ...data], { input });
      assert.is(stdout, "");
      return [code, stderr];
    },
    async getToken(form) {
      const body = new URLSearchParams(form);
      return await (await fetch(`${server!.facts.url}/oauth/token`, { method: "POST", body })).json();
    },
  };
}
