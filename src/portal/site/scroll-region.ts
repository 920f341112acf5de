import { html, type Markup } from './markup.ts';

/** A table that may be wider than the screen: it scrolls by itself, by keyboard too. */
export const renderScrollRegion = (label: string, table: Markup): Markup =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0">${table}</div>`;
