/** Session of an identity provider, as its assertion names it: single logout ends the browser sessions of it. */
export interface ProviderSession {
  readonly nameId: string;
  /** Format and qualifiers of the name identifier; empty where the provider sent none. */
  readonly format: string;
  readonly nameQualifier: string;
  readonly spNameQualifier: string;
  /** Empty where the provider has no index. */
  readonly sessionIndex: string;
}
