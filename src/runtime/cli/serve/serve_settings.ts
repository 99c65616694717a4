/**
 * The settings of one `trivet serve`: its options, the environment, and the files that they name, read and checked before
 * anything is opened or listens.
 *
 * @module
 */
import process from "node:process";
import { describeError } from "../../../observability/log.ts";
import type { OAuthOptions } from "../../../options/oauth_options.ts";
import type { Upstream } from "../../../skills/messages/upstream_options.ts";
import type { TrivetOptions } from "../../../options/trivet_options.ts";
import { isShared, type Place, readPlace } from "../data.ts";
import type { CommandGateway } from "../gateway/gateway_file.ts";
import { readGateway } from "../gateway/gateway_options.ts";
import { readArguments, type ValuesOf } from "../options.ts";
import { UsageError } from "../output.ts";
import { readServedSkills, type SkillFolders } from "../skill/skill_folders.ts";
import { createServeLog, readMetricsToken, type ServeLog } from "./observe.ts";
import { readRateLimits } from "./rate_limit_options.ts";
import { createSendMail } from "./serve_mail.ts";
import {
  readHasSkills,
  readSignUp,
  readTrustedProxies,
  readUpstream,
  SERVE_OPTIONS,
} from "./serve_options.ts";
import { readPages } from "./serve_pages.ts";
import { readTls, type TlsFiles } from "./tls_files.ts";
import { readModule, type ToolModule } from "./tool_module.ts";

export interface ServeSettings {
  readonly values: ValuesOf<typeof SERVE_OPTIONS>;
  readonly place: Place;
  readonly module: ToolModule | undefined;
  readonly wantsDemo: boolean;
  readonly log: ServeLog;
  readonly reportFault: (error: unknown, where?: string) => void;
  readonly metricsToken: string | undefined;
  readonly tls: TlsFiles | undefined;
  readonly gateway: CommandGateway | undefined;
  readonly skills: ServedSkills;
  readonly server: Pick<TrivetOptions, "trustedProxies" | "rateLimits">;
  readonly oauth: Pick<OAuthOptions, "signUp" | "pages" | "sendMail">;
}

export interface ServedSkills extends SkillFolders {
  /** Whether the Skills service runs. */
  readonly isServed: boolean;
  /** Whether the tool server offers skills. */
  readonly isOffered: boolean;
  readonly upstream: Upstream | undefined;
}

/** @throws {UsageError} for what cannot be used, before anything is created */
export async function readServeSettings(argv: readonly string[]): Promise<ServeSettings> {
  const { values, operands: [path] } = readArguments(argv, SERVE_OPTIONS, 1);
  const module = readModule(path, values);
  const trustedProxies = readTrustedProxies(values);
  const rateLimits = readRateLimits(values);
  const place = readPlace(values, process.env);
  if (values.demo && values["no-demo"]) throw new UsageError("--demo and --no-demo exclude each other");
  const skills = {
    ...readServedSkills(values, place.folder, path !== undefined),
    isServed: readHasSkills(values),
    upstream: readUpstream(values, process.env),
  };
  const sendMail = createSendMail(values);
  const signUp = readSignUp(values, sendMail !== undefined);
  const metricsToken = readMetricsToken(process.env);
  const log = createServeLog(values);
  const pages = readPages(values);
  return {
    values,
    place,
    module,
    // A database that others use as well gets a demo only on request.
    wantsDemo: values.demo || !values["no-demo"] && !isShared(place),
    log,
    reportFault: (error, where = "server") =>
      log.line("error", "fault", { where, error: describeError(error) }),
    metricsToken,
    gateway: await readGateway(
      values,
      (upstream, line) => log.line("debug", "upstream_stderr", { upstream, line }),
    ),
    tls: readTls(values, (message) => log.line("warn", "tls", { message })),
    skills,
    server: { ...(trustedProxies && { trustedProxies }), ...(rateLimits && { rateLimits }) },
    oauth: { signUp, pages, ...(sendMail && { sendMail }) },
  };
}
