// Discrete Moser-Veselov on free bodies, written by hand for a GPU: the peer that `polhode bench batch --device gpu` is
// measured against. One thread a body, its numbers in registers; six fixed-point iterations, which leave round-off at
// h = 0.01. Nothing is checked, no status kept, lengths not renewed. Compiled by NVRTC.
extern "C" __global__ void __launch_bounds__(128) dmv(const long long members, const long long steps, double *attitude,
                                                      double *momentum) {
  const long long i = (long long)blockIdx.x * 128 + threadIdx.x;
  if (i >= members) return;
  const double h = 0.01, a = 0.5 * h / 0.9144, b = 0.5 * h / 1.098, c = 0.5 * h / 1.66;
  double w = attitude[i], x = attitude[members + i], y = attitude[2 * members + i], z = attitude[3 * members + i];
  double p = momentum[i], q = momentum[members + i], r = momentum[2 * members + i];
  for (long long n = 0; n < steps; ++n) {
    double P = p, Q = q, R = r, ex, ey, ez, alpha, dp, dq, dr;
#pragma unroll
    for (int k = 0; k < 7; ++k) {
      ex = a * P, ey = b * Q, ez = c * R;
      alpha = 1 + ex * ex + ey * ey + ez * ez;
      dp = Q * ez - R * ey, dq = R * ex - P * ez, dr = P * ey - Q * ex;
      if (k < 6) P = alpha * p + dp, Q = alpha * q + dq, R = alpha * r + dr;
    }
    const double length = rsqrt(alpha), twice = 2 * length * length;
    p += twice * dp, q += twice * dq, r += twice * dr;
    const double e1 = length * ex, e2 = length * ey, e3 = length * ez, w0 = w, x0 = x, y0 = y, z0 = z;
    w = w0 * length - x0 * e1 - y0 * e2 - z0 * e3;
    x = w0 * e1 + x0 * length + y0 * e3 - z0 * e2;
    y = w0 * e2 - x0 * e3 + y0 * length + z0 * e1;
    z = w0 * e3 + x0 * e2 - y0 * e1 + z0 * length;
  }
  attitude[i] = w, attitude[members + i] = x, attitude[2 * members + i] = y, attitude[3 * members + i] = z;
  momentum[i] = p, momentum[members + i] = q, momentum[2 * members + i] = r;
}
