import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

interface ShortcutOptions {
  /** Single letters may be switched off (WCAG 2.2, 2.1.4). */
  readonly hasSingleKeys: boolean;
  /** Pages by the key after `g`. */
  readonly pages: ReadonlyMap<string, string>;
  onPalette(): void;
  onHelp(): void;
}

/** Time between the two keys of a sequence. */
const sequenceMs = 1000;
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Keyboard shortcuts of every page: the palette, help, search in the page, `g` and a letter for a page. */
export function useShortcuts({ hasSingleKeys, pages, onPalette, onHelp }: ShortcutOptions): void {
  const navigate = useNavigate();
  const handlers = useRef({ onPalette, onHelp });
  handlers.current = { onPalette, onHelp };
  useEffect(() => {
    let sequenceEnd = 0;
    const press = (event: KeyboardEvent) => {
      const { key } = event;
      if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === 'k') {
        event.preventDefault();
        handlers.current.onPalette();
        return;
      }
      const isLayerOpen = document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
      if (!hasSingleKeys || isLayerOpen || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey)
        return;
      const page = event.timeStamp < sequenceEnd ? pages.get(key) : undefined;
      sequenceEnd = key === 'g' ? event.timeStamp + sequenceMs : 0;
      if (page) void navigate({ to: page });
      else if (key === '?') handlers.current.onHelp();
      else if (key === '/') focusElement(event, '[data-page-search]');
      else if (key === 'n') clickElement('[data-new]');
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [hasSingleKeys, pages, navigate]);
}

function focusElement(event: Event, selector: string): void {
  const element = document.querySelector<HTMLElement>(selector);
  if (!element) return;
  event.preventDefault();
  element.focus();
}

const clickElement = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();
