/** A running installation, for the story of the generated client. */
export interface StoryPlaces {
  readonly dashboard: string;
  readonly gateway: string;
  readonly adminSecret: string;
  /** URL of a server on loopback that responds to every request with 200. */
  readonly upstream: string;
  /** PEM of a certificate. */
  readonly certificate: string;
  waitUntilServed(): Promise<void>;
  eventually<T>(check: () => Promise<T>): Promise<T>;
}
