/**
 * Operations that show the server: its health, and its tools.
 *
 * @module
 */
import { AUDIT_HEAD, type AuditHead } from "../../observability/audit.ts";
import { VERSION } from "../../version.ts";
import { type Page, pageInput, pageOf, pageOfMembers, type PageQuery } from "../list_page.ts";
import { AdminError, type AdminOperation, type AdminTool, toIso } from "../operation.ts";
import { count, input, object, oneOf, orNull, text, time } from "../schema.ts";

/** The health of a server in an answer. */
export interface AdminHealth {
  readonly version: string;
  readonly time: string;
  readonly store: { readonly milliseconds: number; readonly durable: string };
  readonly audit_records: number | null;
}

export const showHealth: AdminOperation<object, AdminHealth> = {
  name: "showHealth",
  method: "GET",
  path: "/health",
  summary: "Show the version of the server, its clock, and how fast its store answers",
  input: input({}),
  output: object({
    version: text("the version of Trivet"),
    time: time("by the clock of the store"),
    store: object({
      milliseconds: { type: "number", minimum: 0, description: "how long one read took" },
      durable: oneOf(["none", "process", "power"], "what an acknowledged commit survives the end of"),
    }),
    audit_records: orNull(count("the number of the last record of the audit trail; null without one")),
  }),
  async run({ store, now }) {
    const began = performance.now();
    const head = await store.get<AuditHead>(AUDIT_HEAD);
    const milliseconds = Math.round((performance.now() - began) * 100) / 100;
    return {
      version: VERSION,
      time: toIso(now()),
      store: { milliseconds, durable: store.guarantees.durable },
      audit_records: head?.value.number ?? null,
    };
  },
};

export const listTools: AdminOperation<PageQuery, Page<AdminTool>> = {
  name: "listTools",
  method: "GET",
  path: "/tools",
  summary: "List the tools of the MCP server, with the calls of this instance since it started",
  input: pageInput(),
  output: pageOf(object({
    name: text("the name"),
    title: orNull(text("the title")),
    description: orNull(text("what it does", { max: 65_536 })),
    scopes: { type: "array", items: { type: "string" }, description: "the scopes that a call needs" },
    calls: count("calls since the start of this instance"),
    failed_calls: count("those whose result was an error"),
  })),
  // deno-lint-ignore require-await
  async run({ tools }, query) {
    if (!tools) throw new AdminError("conflict_error", "This command runs without the MCP server: use --url");
    return pageOfMembers(
      tools(),
      query,
      ({ name }) => name,
      ({ name, title, description }) => [name, title, description],
    );
  },
};

/** The operations of this file. */
export const SERVER_OPERATIONS: readonly AdminOperation[] = [showHealth, listTools];
