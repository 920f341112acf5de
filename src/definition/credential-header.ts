import type { Model } from './model.ts';

export const defaultCredentialHeader = 'Authorization';

/** Header in which clients send the credential of an API: that of its first auth method which reads one. */
export function findCredentialHeader(model: Model): string {
  for (const method of model.authMethods) {
    const { headerEnabled, headerName } = model[method] as { headerEnabled?: boolean; headerName?: string };
    if (headerEnabled) return headerName || defaultCredentialHeader;
  }
  return defaultCredentialHeader;
}
