/**
 * A history checker like Jepsen's: concurrent clients record their calls and the results; afterwards the checker finds
 * results that a correct server could not have returned.
 *
 * An operation has one of three outcomes: `ok` (acknowledged), `refused` and `unknown` (503 or a closed connection: it may
 * or may not have been executed). All times are of one clock, in the process that records.
 *
 * @module
 */

export type Outcome = "ok" | "refused" | "unknown";

/** A call of a client. `family` identifies the grant of a token: it is the authorization code. */
export type Call =
  | { readonly type: "redeem"; readonly code: string }
  | { readonly type: "refresh"; readonly family: string; readonly token: string }
  | { readonly type: "revoke"; readonly family: string; readonly token: string }
  | { readonly type: "check"; readonly family: string; readonly token: string }
  | { readonly type: "publish"; readonly name: string; readonly content: string }
  | { readonly type: "read"; readonly id: string }
  | { readonly type: "delete"; readonly id: string };

export interface Operation {
  readonly call: Call;
  readonly client: number;
  readonly instance: number;
  readonly invoked: number;
  readonly completed: number;
  readonly outcome: Outcome;
  /** Tokens of a redemption or refresh; the id of a published skill; the content of a read; whether a token is active. */
  readonly result?: {
    readonly access?: string;
    readonly refresh?: string;
    readonly id?: string;
    readonly content?: string;
    readonly active?: boolean;
  };
}

export class History {
  readonly operations: Operation[] = [];

  /** Runs an operation and records it. */
  async record(
    client: number,
    instance: number,
    call: Call,
    run: () => Promise<Pick<Operation, "outcome" | "result">>,
  ): Promise<Operation> {
    const invoked = performance.now();
    const { outcome, result } = await run().catch(() => ({ outcome: "unknown" as const, result: undefined }));
    const operation: Operation = {
      call,
      client,
      instance,
      invoked,
      completed: performance.now(),
      outcome,
      ...(result && { result }),
    };
    this.operations.push(operation);
    return operation;
  }

  /** Counts operations by type and outcome: `redeem 40 ok, 2 refused, 1 unknown; …`. */
  summary(): string {
    const counts = new Map<string, Map<Outcome, number>>();
    for (const { call, outcome } of this.operations) {
      const of = counts.get(call.type) ?? new Map();
      counts.set(call.type, of.set(outcome, (of.get(outcome) ?? 0) + 1));
    }
    const kinds = [...counts].map(([type, of]) =>
      `${type} ${[...of].map(([outcome, n]) => `${n} ${outcome}`).join(", ")}`
    );
    return `${this.operations.length} operations: ${kinds.join("; ")}`;
  }
}

/** The state of the server after all operations. */
export interface FinalState {
  /** Whether a token, access or refresh, is active. */
  isActive(token: string): Promise<boolean>;
  /** The content of a skill; `undefined` when there is none. */
  readSkill(id: string): Promise<string | undefined>;
}

export type ViolationCode =
  | "code_redeemed_twice"
  | "rotated_twice"
  | "active_after_revocation"
  | "rotated_after_revocation"
  | "two_live_refresh_tokens"
  | "revoked_access_token_active"
  | "revoked_refresh_token_active"
  | "access_token_lost"
  | "refresh_token_lost"
  | "skill_partial"
  | "skill_not_found"
  | "skill_read_after_deletion"
  | "skill_not_deleted"
  | "skill_lost"
  | "skill_damaged"
  | "unexpected_response";

/** A result that a correct server could not have returned. */
export interface Violation {
  readonly code: ViolationCode;
  readonly message: string;
}

type Report = (code: ViolationCode, message: string) => void;

/** Finds every violation of the history. */
export async function findViolations({ operations }: History, final: FinalState): Promise<Violation[]> {
  const violations: Violation[] = [];
  const report: Report = (code, message) => void violations.push({ code, message });
  checkCodes(operations, report);
  checkRotations(operations, report);
  checkRevocations(operations, report);
  await checkTokens(operations, final, report);
  await checkSkills(operations, final, report);
  return violations;
}

type Of<Type extends Call["type"]> = Operation & { readonly call: Extract<Call, { type: Type }> };

function ofType<Type extends Call["type"]>(operations: readonly Operation[], type: Type): Of<Type>[] {
  return operations.filter((operation): operation is Of<Type> => operation.call.type === type);
}

/** A code is redeemed at most once. */
function checkCodes(operations: readonly Operation[], report: Report): void {
  const redeemed = new Map<string, string>();
  for (const { call: { code }, outcome, result } of ofType(operations, "redeem")) {
    if (outcome !== "ok") continue;
    if (redeemed.has(code)) report("code_redeemed_twice", `a code was redeemed twice: ${code.slice(0, 8)}`);
    redeemed.set(code, result!.access!);
  }
}

/** Every rotation of one refresh token returns the same tokens. */
function checkRotations(operations: readonly Operation[], report: Report): void {
  const rotated = new Map<string, string>();
  for (const { call: { token }, outcome, result } of ofType(operations, "refresh")) {
    if (outcome !== "ok") continue;
    const next = `${result!.access} ${result!.refresh}`;
    if (rotated.has(token) && rotated.get(token) !== next) {
      report("rotated_twice", "a refresh token was rotated to two different tokens");
    }
    rotated.set(token, next);
  }
}

/** After an acknowledged revocation no token of the family is active, and no refresh token can be rotated. */
function checkRevocations(operations: readonly Operation[], report: Report): void {
  const revokedAt = findRevocations(operations);
  for (const { call, invoked, outcome, result, instance } of operations) {
    if (call.type !== "check" && call.type !== "refresh") continue;
    const end = revokedAt.get(call.family);
    if (end === undefined || invoked <= end) continue;
    const when = `${
      (invoked - end).toFixed(1)
    } ms after its revocation was acknowledged, on instance ${instance}`;
    if (call.type === "check" && result?.active) {
      report("active_after_revocation", `a token was active ${when}`);
    }
    if (call.type === "refresh" && outcome === "ok") {
      report("rotated_after_revocation", `a refresh token was rotated ${when}`);
    }
  }
}

/** When the revocation of each family was first acknowledged. */
function findRevocations(operations: readonly Operation[]): Map<string, number> {
  const revokedAt = new Map<string, number>();
  for (const { call: { family }, outcome, completed } of ofType(operations, "revoke")) {
    if (outcome === "ok") revokedAt.set(family, Math.min(completed, revokedAt.get(family) ?? Infinity));
  }
  return revokedAt;
}

/** In the final state no family has two active refresh tokens, and a token is active unless it may have been revoked. */
async function checkTokens(
  operations: readonly Operation[],
  final: FinalState,
  report: Report,
): Promise<void> {
  const revokedAt = findRevocations(operations);
  const families = new Map<
    string,
    { refresh: Set<string>; access: Set<string>; newest: string | undefined }
  >();
  for (const { call, outcome, result } of operations) {
    if (outcome !== "ok" || call.type !== "redeem" && call.type !== "refresh") continue;
    const family = call.type === "redeem" ? call.code : call.family;
    const tokens = families.get(family) ?? { refresh: new Set(), access: new Set(), newest: undefined };
    tokens.refresh.add(result!.refresh!);
    tokens.access.add(result!.access!);
    tokens.newest = result!.refresh!;
    families.set(family, tokens);
  }
  for (const [family, { refresh, access, newest }] of families) {
    const live = [];
    for (const token of refresh) if (await final.isActive(token)) live.push(token);
    if (live.length > 1) {
      report("two_live_refresh_tokens", `a family has ${live.length} active refresh tokens`);
    }
    if (revokedAt.has(family)) {
      for (const token of access) {
        if (await final.isActive(token)) {
          report("revoked_access_token_active", "a revoked access token is active");
        }
      }
      if (live.length > 0) report("revoked_refresh_token_active", "a revoked refresh token is active");
    } else if (!mayBeRevoked(operations, family)) {
      if (!live.includes(newest!)) report("refresh_token_lost", "an acknowledged refresh token is lost");
      for (const token of access) {
        if (!await final.isActive(token)) report("access_token_lost", "an acknowledged access token is lost");
      }
    }
  }
}

/** Whether the family may have been revoked: by an operation of unknown outcome, or by the replay of its code. */
function mayBeRevoked(operations: readonly Operation[], family: string): boolean {
  const redemptions = ofType(operations, "redeem").filter(({ call }) => call.code === family);
  return redemptions.length > 1 ||
    ofType(operations, "revoke").some(({ call }) => call.family === family) ||
    ofType(operations, "refresh").some(({ call, outcome }) =>
      call.family === family && outcome === "unknown" && !isAcknowledged(operations, call.token)
    );
}

/** Whether a client received the rotated tokens. */
function isAcknowledged(operations: readonly Operation[], token: string): boolean {
  return ofType(operations, "refresh").some(({ call, outcome }) => call.token === token && outcome === "ok");
}

/** A skill whose upload was acknowledged exists and is complete until it is deleted; a deleted one does not exist. */
async function checkSkills(
  operations: readonly Operation[],
  final: FinalState,
  report: Report,
): Promise<void> {
  const deletions = ofType(operations, "delete");
  const contents = new Map<string, string>();
  for (const { call, outcome, result } of ofType(operations, "publish")) {
    if (outcome === "ok") contents.set(result!.id!, call.content);
  }
  for (const { call: { id }, outcome, result, invoked } of ofType(operations, "read")) {
    const deleted = deletions.filter(({ call }) => call.id === id);
    if (outcome === "ok" && result!.content !== contents.get(id)) {
      report("skill_partial", `skill ${id} was read in part`);
    }
    if (outcome === "refused" && !deleted.some((each) => each.invoked < invoked + 1e4)) {
      report("skill_not_found", `skill ${id} was not found after its upload was acknowledged`);
    }
    if (outcome === "ok" && deleted.some((each) => each.outcome === "ok" && each.completed < invoked)) {
      report("skill_read_after_deletion", `skill ${id} was read after its deletion was acknowledged`);
    }
  }
  for (const [id, content] of contents) {
    const attempts = deletions.filter(({ call }) => call.id === id);
    const found = await final.readSkill(id);
    if (attempts.some(({ outcome }) => outcome === "ok")) {
      if (found !== undefined) {
        report("skill_not_deleted", `skill ${id} exists, although its deletion was acknowledged`);
      }
    } else if (attempts.length === 0 && found !== content) {
      report(found === undefined ? "skill_lost" : "skill_damaged", `skill ${id} is lost or damaged`);
    }
  }
}
