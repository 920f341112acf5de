import { html, type Markup } from '../markup.ts';

/** HTTP method as a badge; its colour is one of the look's. */
export const renderMethodBadge = (method: string): Markup =>
  html`<span class="method method-${method.toLowerCase()}">${method}</span>`;
