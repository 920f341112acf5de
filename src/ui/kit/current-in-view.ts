import { useLocation } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef } from 'react';

/** For a list of links that scrolls sideways: the link of the current page is in view when the page opens. */
export function useCurrentInView(): RefObject<HTMLElement | null> {
  const list = useRef<HTMLElement>(null);
  const path = useLocation({ select: location => location.pathname });
  useEffect(() => {
    if (!list.current) return;
    const { offsetLeft, clientWidth } = list.current;
    const current = [...list.current.querySelectorAll('a')].find(link => link.pathname === path);
    const end = current ? current.offsetLeft - offsetLeft + current.offsetWidth : 0;
    if (end > clientWidth) list.current.scrollLeft = end - clientWidth;
  }, [path]);
  return list;
}
