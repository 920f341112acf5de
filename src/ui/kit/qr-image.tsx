import { useMemo } from 'react';
import { createQrCode } from './qr/qr-code.ts';

/** Light modules around a symbol (ISO/IEC 18004, section 6.3.8). */
const quietZone = 4;

/** QR code of a text; nothing for a text that is too long. Dark on light in both themes: readers expect it. */
export function QrImage({ text, label }: { text: string; label: string }) {
  const rows = useMemo(() => createQrCode(text), [text]);
  if (!rows) return null;
  const size = rows.length + 2 * quietZone;
  const path = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x + quietZone} ${y + quietZone}h1v1h-1z`] : [])),
  );
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="size-48 shrink-0 rounded-control"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path.join('')} fill="#000" />
    </svg>
  );
}
