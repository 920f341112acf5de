import { setNonce } from 'get-nonce';

/** Nonce of this page view: browsers hide the attribute and leave the property. */
export const pageNonce = (): string => document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? '';

/** Lets the scroll lock of dialogs and menus insert its style sheet. */
export const provideNonce = (): void => setNonce(pageNonce());
