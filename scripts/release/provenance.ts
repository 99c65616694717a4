/**
 * The provenance statement of a release: an in-toto Statement v1 with a SLSA provenance v1 predicate. It names the source
 * commit, the lock file and the tools that made the packages. It is not signed: `npm publish --provenance` in a CI job and
 * tools such as cosign sign it. It has no times, so two builds of one commit have the same statement.
 *
 * @module
 */

/** A file by name, with digests in lower-case hexadecimal. */
export interface Artifact {
  readonly name: string;
  readonly sha256: string;
  readonly sha512: string;
}

/** What a release is made from, and by what. */
export interface BuildFacts {
  readonly artifacts: readonly Artifact[];
  /** The source commit; `undefined` outside a repository or with uncommitted changes. */
  readonly commit: string | undefined;
  /** The repository without user information; `undefined` if it has no https address. */
  readonly repository: string | undefined;
  /** SHA-256 digest of package-lock.json. */
  readonly lockDigest: string;
  /** A URI that identifies who built: a CI job, or a developer's machine. */
  readonly builder: string;
  /** Versions of the tools, by name. */
  readonly tools: Readonly<Record<string, string>>;
}

/** The kind of build, for verifiers: `npm run release` of this repository, with no parameters but the source. */
const BUILD_TYPE = "urn:trivet:release:1";

export function writeProvenance(facts: BuildFacts): object {
  const { artifacts, commit, repository, lockDigest, builder, tools } = facts;
  const source = commit !== undefined && {
    ...(repository !== undefined && { uri: `git+${repository}` }),
    digest: { gitCommit: commit },
  };
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: artifacts.map(({ name, sha256, sha512 }) => ({ name, digest: { sha256, sha512 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: BUILD_TYPE,
        externalParameters: { command: "npm run release" },
        internalParameters: {},
        resolvedDependencies: [
          ...(source ? [source] : []),
          { name: "package-lock.json", digest: { sha256: lockDigest } },
        ],
      },
      runDetails: { builder: { id: builder, version: tools } },
    },
  };
}

/** The https address of a git remote without user information, or `undefined`. */
export function toPublicAddress(remote: string): string | undefined {
  const url = URL.parse(remote.trim());
  if (url?.protocol !== "https:") return undefined;
  url.username = "";
  url.password = "";
  return url.href;
}
