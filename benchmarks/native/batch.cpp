// Many bodies at once, written for speed: the peer that `polhode bench batch` is measured against. Components of eight
// bodies side by side, so that the compiler uses vector instructions; a share of the bodies for every thread.
//   g++ -O3 -march=native -ffast-math -pthread batch.cpp -o batch
//   usage: batch dmv|imidm BODIES STEPS THREADS  ->  seconds, those of all cores, largest relative change of energy
// dmv: discrete Moser-Veselov on free bodies, h = 0.01, six fixed-point iterations. imidm: the midpoint rule that keeps
// momentum on heavy tops, h = 0.001, eight; both leave round-off. Nothing is checked, no status kept, nothing saved.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

constexpr int B = 8;  // bodies side by side
struct Bodies { std::vector<double> q[4], y[3]; };

static void dmv(Bodies &all, long from, long to, long steps) {
    const double h = 0.01, a = 0.5 * h / 0.9144, b = 0.5 * h / 1.098, c = 0.5 * h / 1.66;
    for (long first = from; first < to; first += B) {
        double q0[B], q1[B], q2[B], q3[B], y0[B], y1[B], y2[B];
        for (int k = 0; k < B; k++) {
            q0[k] = all.q[0][first + k]; q1[k] = all.q[1][first + k]; q2[k] = all.q[2][first + k]; q3[k] = all.q[3][first + k];
            y0[k] = all.y[0][first + k]; y1[k] = all.y[1][first + k]; y2[k] = all.y[2][first + k];
        }
        for (long n = 0; n < steps; n++) {
#pragma GCC ivdep
            for (int k = 0; k < B; k++) {
                double X = y0[k], Y = y1[k], Z = y2[k], ex, ey, ez, al, dx, dy, dz;
                for (int i = 0; i < 6; i++) {
                    ex = a * X; ey = b * Y; ez = c * Z;
                    al = 1 + ex * ex + ey * ey + ez * ez;
                    dx = Y * ez - Z * ey; dy = Z * ex - X * ez; dz = X * ey - Y * ex;
                    X = al * y0[k] + dx; Y = al * y1[k] + dy; Z = al * y2[k] + dz;
                }
                ex = a * X; ey = b * Y; ez = c * Z;
                al = 1 + ex * ex + ey * ey + ez * ez;
                dx = Y * ez - Z * ey; dy = Z * ex - X * ez; dz = X * ey - Y * ex;
                double ia = 2 / al, r0 = 1 / std::sqrt(al), r1 = r0 * ex, r2 = r0 * ey, r3 = r0 * ez;
                y0[k] += dx * ia; y1[k] += dy * ia; y2[k] += dz * ia;
                double p0 = q0[k], p1 = q1[k], p2 = q2[k], p3 = q3[k];
                q0[k] = p0 * r0 - p1 * r1 - p2 * r2 - p3 * r3; q1[k] = p0 * r1 + p1 * r0 + p2 * r3 - p3 * r2;
                q2[k] = p0 * r2 - p1 * r3 + p2 * r0 + p3 * r1; q3[k] = p0 * r3 + p1 * r2 - p2 * r1 + p3 * r0;
            }
        }
        for (int k = 0; k < B; k++) {
            all.q[0][first + k] = q0[k]; all.q[1][first + k] = q1[k]; all.q[2][first + k] = q2[k]; all.q[3][first + k] = q3[k];
            all.y[0][first + k] = y0[k]; all.y[1][first + k] = y1[k]; all.y[2][first + k] = y2[k];
        }
    }
}

// cos r and sin r / r of x = r²; the angles of a step are small
static inline double c0(double x) {
    double s = 1.0 / 6402373705728000 * -x + 1.0 / 20922789888000;
    s = s * -x + 1.0 / 87178291200; s = s * -x + 1.0 / 479001600; s = s * -x + 1.0 / 3628800; s = s * -x + 1.0 / 40320;
    s = s * -x + 1.0 / 720; s = s * -x + 1.0 / 24; s = s * -x + 0.5;
    return s * -x + 1;
}
static inline double c1(double x) {
    double s = 1.0 / 121645100408832000 * -x + 1.0 / 355687428096000;
    s = s * -x + 1.0 / 1307674368000; s = s * -x + 1.0 / 6227020800; s = s * -x + 1.0 / 39916800;
    s = s * -x + 1.0 / 362880; s = s * -x + 1.0 / 5040; s = s * -x + 1.0 / 120; s = s * -x + 1.0 / 6;
    return s * -x + 1;
}

static void imidm(Bodies &all, long from, long to, long steps) {
    const double h = 0.001, weight = 20, Jx = 1.0 / 5, Jy = 1.0 / 5, Jz = 1;
    for (long first = from; first < to; first += B) {
        double qw[B], qx[B], qy[B], qz[B], Px[B], Py[B], Pz[B];
        for (int k = 0; k < B; k++) {
            qw[k] = all.q[0][first + k]; qx[k] = all.q[1][first + k]; qy[k] = all.q[2][first + k]; qz[k] = all.q[3][first + k];
            Px[k] = all.y[0][first + k]; Py[k] = all.y[1][first + k]; Pz[k] = all.y[2][first + k];
        }
        for (long n = 0; n < steps; n++) {
#pragma GCC ivdep
            for (int k = 0; k < B; k++) {
                double w = qw[k], x = qx[k], y = qy[k], z = qz[k], p = Px[k], q = Py[k], r = Pz[k];
                double a = h * Jx * p, b = h * Jy * q, c = h * Jz * r;  // the rotation vector of the step
                double pw, px, py, pz, mw, mx, my, mz, hx, hy, hz, T1, T2;
                for (int i = 0; i < 9; i++) {
                    double u = 0.25 * a, v = 0.25 * b, t = 0.25 * c, s2 = u * u + v * v + t * t, s = c1(s2);
                    pw = c0(s2); px = s * u; py = s * v; pz = s * t;
                    mw = w * pw - x * px - y * py - z * pz; mx = w * px + x * pw + y * pz - z * py;
                    my = w * py - x * pz + y * pw + z * px; mz = w * pz + x * py - y * px + z * pw;
                    T1 = weight * 2 * (my * mz + mw * mx); T2 = -weight * 2 * (mx * mz - mw * my);
                    double tx = 2 * (q * pz - r * py), ty = 2 * (r * px - p * pz), tz = 2 * (p * py - q * px);
                    hx = p + pw * tx + ty * pz - tz * py; hy = q + pw * ty + tz * px - tx * pz; hz = r + pw * tz + tx * py - ty * px;
                    a = h * Jx * (hx + 0.5 * h * T1); b = h * Jy * (hy + 0.5 * h * T2); c = h * Jz * hz;
                }
                double gx = hx + h * T1, gy = hy + h * T2, gz = hz;
                double tx = 2 * (gy * pz - gz * py), ty = 2 * (gz * px - gx * pz), tz = 2 * (gx * py - gy * px);
                Px[k] = gx + pw * tx + ty * pz - tz * py; Py[k] = gy + pw * ty + tz * px - tx * pz;
                Pz[k] = gz + pw * tz + tx * py - ty * px;
                double ew = mw * pw - mx * px - my * py - mz * pz, ex = mw * px + mx * pw + my * pz - mz * py;
                double ey = mw * py - mx * pz + my * pw + mz * px, ez = mw * pz + mx * py - my * px + mz * pw;
                double s = 1.5 - 0.5 * (ew * ew + ex * ex + ey * ey + ez * ez);
                qw[k] = ew * s; qx[k] = ex * s; qy[k] = ey * s; qz[k] = ez * s;
            }
        }
        for (int k = 0; k < B; k++) {
            all.q[0][first + k] = qw[k]; all.q[1][first + k] = qx[k]; all.q[2][first + k] = qy[k]; all.q[3][first + k] = qz[k];
            all.y[0][first + k] = Px[k]; all.y[1][first + k] = Py[k]; all.y[2][first + k] = Pz[k];
        }
    }
}

static double energy(const Bodies &all, long i, bool top) {
    const double *I = top ? (const double[]){5, 5, 1} : (const double[]){0.9144, 1.098, 1.66};
    double kinetic = 0;
    for (int j = 0; j < 3; j++) kinetic += 0.5 * all.y[j][i] * all.y[j][i] / I[j];
    double x = all.q[1][i], y = all.q[2][i];
    return kinetic + (top ? 20 * (1 - 2 * (x * x + y * y)) : 0);
}

int main(int argc, char **argv) {
    if (argc != 5) return std::fprintf(stderr, "usage: batch dmv|imidm BODIES STEPS THREADS\n"), 2;
    const bool top = !std::strcmp(argv[1], "imidm");
    const long bodies = std::atol(argv[2]), steps = std::atol(argv[3]), threads = std::atol(argv[4]);
    const long groups = (bodies + B - 1) / B;
    Bodies all;
    for (auto &v : all.q) v.assign(groups * B, 0.0);
    for (auto &v : all.y) v.assign(groups * B, 0.0);
    for (long i = 0; i < groups * B; i++) {
        const double near = 1 + 1e-3 * (i % 1000) / 1000;
        all.q[0][i] = std::cos(0.025); all.q[1][i] = std::sin(0.025);
        all.y[0][i] = top ? 0 : 0.4165 * near; all.y[1][i] = top ? 0 : 0.907; all.y[2][i] = top ? 50 * near : 0.0577;
    }
    std::vector<double> before;
    for (long i = 0; i < groups * B; i++) before.push_back(energy(all, i, top));
    const std::clock_t spent = std::clock();
    auto began = std::chrono::steady_clock::now();
    std::vector<std::thread> team;
    for (long k = 0; k < threads; k++)
        team.emplace_back(top ? imidm : dmv, std::ref(all), groups * k / threads * B, groups * (k + 1) / threads * B, steps);
    for (auto &member : team) member.join();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const double cores = double(std::clock() - spent) / CLOCKS_PER_SEC;
    double worst = 0;
    for (long i = 0; i < groups * B; i++) worst = std::fmax(worst, std::fabs(energy(all, i, top) / before[i] - 1));
    std::printf("%.9g %.9g %.3e\n", seconds, cores, worst);
}
