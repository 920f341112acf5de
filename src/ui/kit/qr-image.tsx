import { useMemo } from 'react';
import { drawQrPath } from '#base/qr/qr-path.ts';

/** QR code of a text; nothing for a text that is too long. Dark on light in both themes: readers expect it. */
export function QrImage({ text, label }: { text: string; label: string }) {
  const drawn = useMemo(() => drawQrPath(text), [text]);
  if (!drawn) return null;
  const { size, path } = drawn;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 shrink-0 rounded-control"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
