/**
 * A history checker in the manner of Jepsen: concurrent clients write down what they asked and what they heard, and
 * afterwards it is checked whether any server that keeps its promises could have given these answers.
 *
 * An operation has three outcomes: `ok` (acknowledged), `refused` (a definite no) and `unknown` (503, a cut connection:
 * it was done or not). Times are of one clock in the process that records.
 *
 * @module
 */

export type Outcome = "ok" | "refused" | "unknown";

/** What was asked. `family` names the grant that a token belongs to, as far as the clients can tell: its code. */
export type Asked =
  | { readonly type: "redeem"; readonly code: string }
  | { readonly type: "refresh"; readonly family: string; readonly token: string }
  | { readonly type: "revoke"; readonly family: string; readonly token: string }
  | { readonly type: "check"; readonly family: string; readonly token: string }
  | { readonly type: "publish"; readonly name: string; readonly content: string }
  | { readonly type: "read"; readonly id: string }
  | { readonly type: "delete"; readonly id: string };

export interface Operation {
  readonly asked: Asked;
  readonly client: number;
  readonly instance: number;
  readonly invoked: number;
  readonly completed: number;
  readonly outcome: Outcome;
  /** Tokens of a redemption or refresh; the id of what was published; what was read; whether a token is active. */
  readonly heard?: {
    readonly access?: string;
    readonly refresh?: string;
    readonly id?: string;
    readonly content?: string;
    readonly active?: boolean;
  };
}

export class History {
  readonly operations: Operation[] = [];

  /** Runs an operation and writes it down. */
  async record(
    client: number,
    instance: number,
    asked: Asked,
    run: () => Promise<Pick<Operation, "outcome" | "heard">>,
  ): Promise<Operation> {
    const invoked = performance.now();
    const { outcome, heard } = await run().catch(() => ({ outcome: "unknown" as const, heard: undefined }));
    const operation: Operation = {
      asked,
      client,
      instance,
      invoked,
      completed: performance.now(),
      outcome,
      ...(heard && { heard }),
    };
    this.operations.push(operation);
    return operation;
  }

  /** How many operations of each kind ended how: `redeem 40 ok, 2 refused, 1 unknown; …`. */
  summary(): string {
    const counts = new Map<string, Map<Outcome, number>>();
    for (const { asked, outcome } of this.operations) {
      const of = counts.get(asked.type) ?? new Map();
      counts.set(asked.type, of.set(outcome, (of.get(outcome) ?? 0) + 1));
    }
    const kinds = [...counts].map(([type, of]) =>
      `${type} ${[...of].map(([outcome, n]) => `${n} ${outcome}`).join(", ")}`
    );
    return `${this.operations.length} operations: ${kinds.join("; ")}`;
  }
}

/** What the server says when all is quiet again. */
export interface FinalState {
  /** Whether a token, access or refresh, is active. */
  isActive(token: string): Promise<boolean>;
  /** The content of a skill; `undefined` when there is none. */
  readSkill(id: string): Promise<string | undefined>;
}

/** Every promise that the history breaks, in words; empty when it keeps them all. */
export async function findViolations({ operations }: History, final: FinalState): Promise<string[]> {
  const broken: string[] = [];
  checkCodes(operations, broken);
  checkRotations(operations, broken);
  checkRevocations(operations, broken);
  await checkTokens(operations, final, broken);
  await checkSkills(operations, final, broken);
  return broken;
}

type Of<Type extends Asked["type"]> = Operation & { readonly asked: Extract<Asked, { type: Type }> };

function of<Type extends Asked["type"]>(operations: readonly Operation[], type: Type): Of<Type>[] {
  return operations.filter((operation): operation is Of<Type> => operation.asked.type === type);
}

/** A code was redeemed at most once. */
function checkCodes(operations: readonly Operation[], broken: string[]): void {
  const redeemed = new Map<string, string>();
  for (const { asked: { code }, outcome, heard } of of(operations, "redeem")) {
    if (outcome !== "ok") continue;
    if (redeemed.has(code)) broken.push(`a code was redeemed twice: ${code.slice(0, 8)}`);
    redeemed.set(code, heard!.access!);
  }
}

/** All who rotated one refresh token heard the same: there are never two descendants. */
function checkRotations(operations: readonly Operation[], broken: string[]): void {
  const heirs = new Map<string, string>();
  for (const { asked: { token }, outcome, heard } of of(operations, "refresh")) {
    if (outcome !== "ok") continue;
    const heir = `${heard!.access} ${heard!.refresh}`;
    if (heirs.has(token) && heirs.get(token) !== heir) broken.push("a refresh token has two descendants");
    heirs.set(token, heir);
  }
}

/** What was asked after a revocation was acknowledged hears that it is so: also the rotation of such a token. */
function checkRevocations(operations: readonly Operation[], broken: string[]): void {
  const ended = endsOf(operations);
  for (const { asked, invoked, outcome, heard, instance } of operations) {
    if (asked.type !== "check" && asked.type !== "refresh") continue;
    const end = ended.get(asked.family);
    if (end === undefined || invoked <= end) continue;
    const late = `${
      (invoked - end).toFixed(1)
    } ms after its revocation was acknowledged, on instance ${instance}`;
    if (asked.type === "check" && heard?.active) broken.push(`a token was active ${late}`);
    if (asked.type === "refresh" && outcome === "ok") broken.push(`a refresh token was good ${late}`);
  }
}

/** When the revocation of each family was first acknowledged. */
function endsOf(operations: readonly Operation[]): Map<string, number> {
  const ended = new Map<string, number>();
  for (const { asked: { family }, outcome, completed } of of(operations, "revoke")) {
    if (outcome === "ok") ended.set(family, Math.min(completed, ended.get(family) ?? Infinity));
  }
  return ended;
}

/** In the end: no family has two live refresh tokens, what was revoked is dead, what nobody ended is alive. */
async function checkTokens(
  operations: readonly Operation[],
  final: FinalState,
  broken: string[],
): Promise<void> {
  const ended = endsOf(operations);
  const families = new Map<
    string,
    { refresh: Set<string>; access: Set<string>; newest: string | undefined }
  >();
  for (const { asked, outcome, heard } of operations) {
    if (outcome !== "ok" || asked.type !== "redeem" && asked.type !== "refresh") continue;
    const family = asked.type === "redeem" ? asked.code : asked.family;
    const tokens = families.get(family) ?? { refresh: new Set(), access: new Set(), newest: undefined };
    tokens.refresh.add(heard!.refresh!);
    tokens.access.add(heard!.access!);
    tokens.newest = heard!.refresh!;
    families.set(family, tokens);
  }
  for (const [family, { refresh, access, newest }] of families) {
    const live = [];
    for (const token of refresh) if (await final.isActive(token)) live.push(token);
    if (live.length > 1) broken.push(`a family has ${live.length} live refresh tokens`);
    if (ended.has(family)) {
      for (const token of access) {
        if (await final.isActive(token)) broken.push("a revoked token is alive in the end");
      }
      if (live.length > 0) broken.push("a revoked refresh token is alive in the end");
    } else if (!mayHaveEnded(operations, family)) {
      if (!live.includes(newest!)) broken.push("an acknowledged refresh token is lost");
      for (const token of access) {
        if (!await final.isActive(token)) broken.push("an acknowledged access token is lost");
      }
    }
  }
}

/** Whether a revocation may have been done unheard, or the family ended by a code that came twice. */
function mayHaveEnded(operations: readonly Operation[], family: string): boolean {
  const redemptions = of(operations, "redeem").filter(({ asked }) => asked.code === family);
  return redemptions.length > 1 ||
    of(operations, "revoke").some(({ asked }) => asked.family === family) ||
    of(operations, "refresh").some(({ asked, outcome }) =>
      asked.family === family && outcome === "unknown" && !isAnswered(operations, asked.token)
    );
}

/** Whether somebody heard which token came of this one. */
function isAnswered(operations: readonly Operation[], token: string): boolean {
  return of(operations, "refresh").some(({ asked, outcome }) => asked.token === token && outcome === "ok");
}

/** What was acknowledged as published is there and whole, unless it was deleted; what was deleted is gone. */
async function checkSkills(
  operations: readonly Operation[],
  final: FinalState,
  broken: string[],
): Promise<void> {
  const deletions = of(operations, "delete");
  const contents = new Map<string, string>();
  for (const { asked, outcome, heard } of of(operations, "publish")) {
    if (outcome === "ok") contents.set(heard!.id!, asked.content);
  }
  for (const { asked: { id }, outcome, heard, invoked } of of(operations, "read")) {
    const deleted = deletions.filter(({ asked }) => asked.id === id);
    if (outcome === "ok" && heard!.content !== contents.get(id)) broken.push(`skill ${id} was read in part`);
    if (outcome === "refused" && !deleted.some((each) => each.invoked < invoked + 1e4)) {
      broken.push(`skill ${id} was not found after its upload was acknowledged`);
    }
    if (outcome === "ok" && deleted.some((each) => each.outcome === "ok" && each.completed < invoked)) {
      broken.push(`skill ${id} was read after its deletion was acknowledged`);
    }
  }
  for (const [id, content] of contents) {
    const attempts = deletions.filter(({ asked }) => asked.id === id);
    const found = await final.readSkill(id);
    if (attempts.some(({ outcome }) => outcome === "ok")) {
      if (found !== undefined) {
        broken.push(`skill ${id} is there in the end, though its deletion was acknowledged`);
      }
    } else if (attempts.length === 0 && found !== content) {
      broken.push(`skill ${id} is ${found === undefined ? "lost" : "damaged"} in the end`);
    }
  }
}
