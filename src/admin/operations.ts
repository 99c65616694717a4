/**
 * All operations of administration by name, and the one way to call them: the input is checked, and a change is observed.
 *
 * @module
 */
import { compileSchema, type Violation } from "../json_schema/compile.ts";
import { type AdminContext, AdminError, type AdminOperation } from "./operation.ts";
import { AUDIT_OPERATIONS } from "./operations/audit.ts";
import { AUDIT_GROUP_OPERATIONS } from "./operations/audit_groups.ts";
import { CLIENT_OPERATIONS } from "./operations/clients.ts";
import { GRANT_OPERATIONS } from "./operations/grants.ts";
import { HELD_TOOL_OPERATIONS } from "./operations/held_tools.ts";
import { INVITATION_OPERATIONS } from "./operations/invitations.ts";
import { KEY_OPERATIONS } from "./operations/keys.ts";
import { SERVER_KEY_OPERATIONS } from "./operations/keys_of_server.ts";
import { PROVIDER_OPERATIONS } from "./operations/providers.ts";
import { SESSION_OPERATIONS } from "./operations/sessions.ts";
import { SERVER_OPERATIONS } from "./operations/server.ts";
import { SKILL_OPERATIONS } from "./operations/skills.ts";
import { UPSTREAM_OPERATIONS } from "./operations/upstreams.ts";
import { USER_ACCESS_OPERATIONS } from "./operations/user_access.ts";
import { USER_OPERATIONS } from "./operations/users.ts";

/** All operations by name. */
export const ADMIN_OPERATIONS: Readonly<Record<string, AdminOperation>> = Object.fromEntries(
  [
    ...USER_OPERATIONS,
    ...USER_ACCESS_OPERATIONS,
    ...SESSION_OPERATIONS,
    ...GRANT_OPERATIONS,
    ...INVITATION_OPERATIONS,
    ...CLIENT_OPERATIONS,
    ...PROVIDER_OPERATIONS,
    ...KEY_OPERATIONS,
    ...SERVER_KEY_OPERATIONS,
    ...SKILL_OPERATIONS,
    ...SERVER_OPERATIONS,
    ...UPSTREAM_OPERATIONS,
    ...HELD_TOOL_OPERATIONS,
    ...AUDIT_OPERATIONS,
    ...AUDIT_GROUP_OPERATIONS,
  ].map((operation) => [operation.name, operation]),
);

/** Compiled at the first call of each operation. */
const validators = new WeakMap<AdminOperation, (input: unknown) => readonly Violation[]>();

/**
 * Runs an operation.
 * @param input any JSON value: its schema decides
 * @throws {AdminError} for input that cannot be used
 */
export async function callOperation(context: AdminContext, name: string, input: unknown): Promise<unknown> {
  const operation = Object.hasOwn(ADMIN_OPERATIONS, name) ? ADMIN_OPERATIONS[name] : undefined;
  if (!operation) throw new TypeError(`Unknown operation: ${name}`);
  checkInput(operation, input);
  const { observe, actor } = context;
  const { subject } = operation;
  let output: unknown;
  try {
    output = await operation.run(context, input);
  } catch (error) {
    // The store failed, perhaps after a commit: what may have changed is in the trail, too.
    if (subject && !(error instanceof AdminError)) {
      const changed = pathSubject(operation, input);
      observe({ type: "admin_changed", operation: name, subject: changed, actor, uncertain: true });
    }
    throw error;
  }
  if (subject) {
    observe({ type: "admin_changed", operation: name, subject: subject(input, output), actor });
  }
  // What only the event needs is no answer.
  return operation.output ? output : undefined;
}

/** What the path names last: the id, or the name, of what an operation changes; `"unknown"` for an addition. */
function pathSubject({ path }: AdminOperation, input: object): string {
  const [, parameter] = /.*:(\w+)/.exec(path) ?? [];
  return parameter === undefined ? "unknown" : String((input as Record<string, unknown>)[parameter]);
}

/** @throws {AdminError} 400, naming the property */
function checkInput(operation: AdminOperation, input: unknown): asserts input is object {
  let validate = validators.get(operation);
  if (!validate) validators.set(operation, validate = compileSchema(operation.input));
  const violations = validate(input);
  if (violations.length === 0) return;
  const message = violations.slice(0, 5).map(({ path, message }) => {
    const name = path.slice(1).replaceAll("/", ".");
    return name === "" ? message : `${name}: ${message}`;
  }).join("; ");
  throw new AdminError("invalid_request_error", message);
}
