/**
 * What `trivet serve` does while it runs besides answering requests: follows files that change, removes contents that
 * nothing refers to, and notifies clients of sessions that a command ended.
 *
 * @module
 */
import { type Store, StoreUnavailableError } from "../../../store/store.ts";
import type { Trivet } from "../../../trivet.ts";
import type { RunningServer } from "../../server.ts";
import { reloadOnChange } from "./reload_tools.ts";
import type { ServeSettings } from "./serve_settings.ts";
import { watchSkills } from "./watch_skills.ts";

/** How often files that nothing refers to are looked for. */
const COLLECT_INTERVAL_MS = 10 * 60_000;
/** How often a server without requests looks for sessions that a command ended, to notify their clients. */
const LOGOUT_NOTICE_INTERVAL_MS = 15_000;

export interface RunningParts {
  readonly trivet: Trivet;
  readonly server: RunningServer;
  readonly store: Store;
  readonly issuer: string;
}

/** Begins the work. @returns the function that ends it */
export async function startBackgroundWork(
  { values, module, tls, gateway, log, reportFault }: ServeSettings,
  { trivet, server, store, issuer }: RunningParts,
): Promise<() => void> {
  const stops: (() => void)[] = [];
  const repeat = (work: () => void, intervalMs: number): void => {
    const timer = setInterval(work, intervalMs);
    stops.push(() => clearInterval(timer));
  };
  if (tls) stops.push(tls.watch(server, log));
  stops.push(await watchSkills(trivet, (message) => log.line("warn", "skills", { message })));
  if (gateway) {
    const { followGatewayFile } = await import("../gateway/follow_file.ts");
    stops.push(
      followGatewayFile(gateway, trivet.gateway!, (message) => log.line("info", "gateway", { message })),
    );
  }
  if (module) stops.push(reloadOnChange(trivet, module, { store }));
  if (values.openid) repeat(() => notifyEndedSessions(trivet, issuer), LOGOUT_NOTICE_INTERVAL_MS);
  const collect = () => collectGarbage(trivet, reportFault);
  repeat(collect, COLLECT_INTERVAL_MS);
  collect();
  return () => {
    for (const stop of stops) stop();
  };
}

/** Removes contents that no skill refers to. A failure does no harm: the next run does it. */
function collectGarbage({ skills }: Trivet, reportFault: ServeSettings["reportFault"]): void {
  skills?.collectGarbage().catch((error) => {
    if (!(error instanceof StoreUnavailableError)) reportFault(error, "skills");
  });
}

/** A request with which the server looks for sessions that a command ended (`backchannel_logout.ts`), and notifies their clients. */
function notifyEndedSessions({ fetch }: Trivet, issuer: string): void {
  // A failure was reported as an event.
  fetch(new Request(`${issuer.replace(/\/$/, "")}/oauth/logout`)).catch(() => {});
}
