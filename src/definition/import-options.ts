/** Options of an import beside the document. An absent option leaves the setting as it is. */
export interface ImportOptions {
  readonly upstreamURL?: string | undefined;
  readonly listenPath?: string | undefined;
  readonly customDomain?: string | undefined;
  readonly apiID?: string | undefined;
  readonly authentication?: boolean | undefined;
  readonly securityProcessingMode?: 'legacy' | 'compliant' | undefined;
  readonly allowList?: boolean | undefined;
  readonly validateRequest?: boolean | undefined;
  readonly mockResponse?: boolean | undefined;
}

export const hasNoOptions = (options: ImportOptions): boolean =>
  Object.values(options).every(value => value === undefined);
